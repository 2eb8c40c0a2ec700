#!/bin/sh
# base-root.sh DEBS ROOT LIST: makes ROOT of the packages that LIST names (DEBS/NAME.deb). Keeps their libraries, licences and certificates, leaves out every
# program, and writes the few files that the packages' own scripts would make. Nothing of the packages is run, so it needs neither root nor network.
# Called by base-layer.ts and by the Dockerfile alike.
set -eu
debs=$1 root=$2 list=$3
umask 022

all="$root/all"
for folder in bin sbin lib lib64; do mkdir -p "$all/usr/$folder"; ln -s "usr/$folder" "$all/$folder"; done
for folder in etc usr/bin usr/sbin usr/lib usr/local usr/share/doc var/lib/dpkg/status.d opt proc sys dev run tmp; do mkdir -p "$root/$folder"; done
for folder in bin sbin lib lib64; do ln -s "usr/$folder" "$root/$folder"; done
grep -E '^[a-z]' "$list" | while read -r name; do
  dpkg-deb --fsys-tarfile "$debs/$name.deb" | tar -x -C "$all" -p --no-same-owner --keep-directory-symlink
  # Where scanners look for what an image without dpkg is made of.
  dpkg-deb --field "$debs/$name.deb" >"$root/var/lib/dpkg/status.d/$name"
done

mv "$all/usr/lib64" "$all/usr/share/common-licenses" "$root/usr/"
mkdir -p "$root/usr/share" && mv "$root/usr/common-licenses" "$root/usr/share/"
mv "$all"/usr/lib/*-linux-gnu "$all/usr/lib/os-release" "$root/usr/lib/"
mv "$all/etc/os-release" "$all/etc/debian_version" "$root/etc/"
# Conversions between character sets, and tools for debuggers.
rm -rf "$root"/usr/lib/*/gconv "$root"/usr/lib/*/audit "$root"/usr/lib/*/libmemusage.so "$root"/usr/lib/*/libpcprofile.so "$root"/usr/lib/*/perl-base
for folder in "$all"/usr/share/doc/*; do
  name=${folder##*/}
  if [ -L "$folder" ]; then mv "$folder" "$root/usr/share/doc/"; else mkdir "$root/usr/share/doc/$name" && mv "$folder/copyright" "$root/usr/share/doc/$name/"; fi
done
# Joined as update-ca-certificates would.
mkdir -p "$root/etc/ssl/certs"
find "$all/usr/share/ca-certificates" -name '*.crt' | LC_ALL=C sort | while read -r file; do cat "$file"; done >"$root/etc/ssl/certs/ca-certificates.crt"
rm -rf "$all"

cat >"$root/etc/passwd" <<'END'
root:x:0:0:root:/nonexistent:/nonexistent
slipway:x:10001:10001:slipway:/tmp:/nonexistent
END
cat >"$root/etc/group" <<'END'
root:x:0:
slipway:x:10001:
END
echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
find "$root" -type f -perm /6000 -exec chmod ug-s {} +
find "$root" -type d -exec chmod 0755 {} +
chmod 1777 "$root/tmp"
