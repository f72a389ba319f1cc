from __future__ import annotations

import subprocess
from pathlib import Path

from penstock.machine.java_home import JavaOrigin, find_java
from penstock.machine.truststore import PASSWORD, java_key_store, machine_certificates
from penstock.testing.waiting import patient

_KEYTOOL = "sun.security.tools.keytool.Main"


def test_java_reads_every_certificate_of_the_machine(tmp_path: Path) -> None:
    certificates = machine_certificates()
    store = tmp_path / "trusted.jks"
    store.write_bytes(java_key_store(certificates))
    java = find_java({"PENSTOCK_HOME": str(tmp_path / "cache")})
    assert java.origin is JavaOrigin.WHEEL
    command = [
        *(str(java.java), "--add-exports", "java.base/sun.security.tools.keytool=ALL-UNNAMED"),
        *("-m", f"java.base/{_KEYTOOL}", "-list", "-keystore", str(store)),
        *("-storepass", PASSWORD),
    ]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=patient(), check=False)
    assert answer.stdout.count("trustedCertEntry") == len(certificates), answer.stdout[-500:]


def test_a_store_without_certificates_is_still_a_store() -> None:
    store = java_key_store([])
    assert store[:12] == bytes.fromhex("feedfeed0000000200000000")
    assert len(store) == 12 + 20
