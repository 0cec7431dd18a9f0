# Sourced by the other scripts: install_packages NAME... installs missing Debian packages without prompting.
install_packages() {
	missing=""
	for package in "$@"; do
		dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
	done
	[ -n "$missing" ] || return 0
	if [ "$(id -u)" = 0 ]; then
		as_root=""
	elif command -v sudo >/dev/null 2>&1; then
		as_root="sudo"
	else
		echo "these packages are missing, and only root can install them:$missing" >&2
		return 1
	fi
	echo "installing:$missing" >&2
	$as_root apt-get update -qq >/dev/null
	DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null
}
