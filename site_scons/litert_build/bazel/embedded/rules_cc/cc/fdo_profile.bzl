"""fdo_profile by itself."""

fdo_profile = native.fdo_profile
