"""What turns the tree into packages: small programs, run as `python -m shipping.NAME` with packaging/ on the path."""
