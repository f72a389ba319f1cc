"""The test kit: real servers for tests of Penstock and of plugins."""
