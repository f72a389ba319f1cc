"""What column plugins share: types of data in flight, faults, text of values."""
