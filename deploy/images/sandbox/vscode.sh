#!/bin/sh
# Puts VS Code's server, as the lock names it, into a folder: `vscode.sh LOCK FOLDER [ARCHIVE]`. Run by the Dockerfile and by deploy/images/vscode-layer.ts, which has
# fetched and checked ARCHIVE already. No script of any package runs, so nothing is compiled; what would be is done without by the server.
set -eu
lock=$1 folder=$2 archive=${3:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -z "$archive" ]; then
  name=$(awk '$1 == "npm" { print $2 }' "$lock")
  version=$(awk '$1 == "npm" { print $3 }' "$lock")
  integrity=$(awk '$1 == "npm" { print $4 }' "$lock")
  archive=$work/$(cd "$work" && npm pack --silent "$name@$version")
  test "sha512-$(openssl dgst -sha512 -binary "$archive" | base64 -w0)" = "$integrity"
fi
tar -xzf "$archive" -C "$work" --no-same-owner
server=$work/package/lib/vscode
# Each package is checked against the hash in the shrinkwrap that came with it.
for each in "$server" "$server/extensions"; do
  (cd "$each" && npm ci --omit=dev --ignore-scripts --legacy-peer-deps --no-audit --no-fund --silent)
done

# Of no use to a person's editor: another assistant's program, containers, what only Windows loads, sources of native modules, other platforms' programs.
cd "$server"
rm -rf node_modules/@devcontainers node_modules/@github node_modules/@microsoft/mxc-sdk
rm -rf node_modules/@vscode/windows-process-tree node_modules/@vscode/windows-registry node_modules/node-pty/deps node_modules/node-pty/third_party
case $(uname -m) in aarch64) kept=linux-arm64 ;; *) kept=linux-x64 ;; esac
for each in node_modules/@vscode/ripgrep-universal/bin node_modules/node-pty/prebuilds; do
  test -d "$each/$kept"
  find "$each" -mindepth 1 -maxdepth 1 ! -name "$kept" -exec rm -rf {} +
done
find . -name '*.map' -delete
find . -name .package-lock.json -delete
cp "$work/package/LICENSE" "$work/package/ThirdPartyNotices.txt" .
mkdir -p "$folder"
cp -R . "$folder/"
