#!/bin/bash
# sign.sh dist/Sayso.app: signs the app, packs it into a disk image, has Apple notarise that, and staples the ticket.
# Never run so far: it needs a Mac and a membership. From the environment:
#   SAYSO_SIGNING_IDENTITY  "Developer ID Application: ..." in the keychain
#   SAYSO_APPLE_ID, SAYSO_TEAM_ID, SAYSO_APP_PASSWORD  of the account that notarises
set -eu
app=${1:?usage: sign.sh Sayso.app}
: "${SAYSO_SIGNING_IDENTITY:?}" "${SAYSO_APPLE_ID:?}" "${SAYSO_TEAM_ID:?}" "${SAYSO_APP_PASSWORD:?}"
cd "$(dirname "$0")/../.."
mkdir -p build/package
image="dist/Sayso-$(python -c 'from dictation.version import version; print(version())')-$(uname -m).dmg"
PYTHONPATH=packaging python -m shipping.plists build/package/entitlements.plist

sign() {
    codesign --force --timestamp --options runtime --entitlements build/package/entitlements.plist \
        --sign "$SAYSO_SIGNING_IDENTITY" "$@"
}
# inside out: a signature covers what is signed already
find "$app/Contents" -type f \( -name '*.so' -o -name '*.dylib' \) -print0 | while IFS= read -r -d '' file; do
    sign "$file"
done
find "$app/Contents/Frameworks" -type d -name '*.framework' -print0 | while IFS= read -r -d '' framework; do
    sign "$framework"
done
sign "$app"
codesign --verify --deep --strict "$app"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -R "$app" "$folder/"
ln -s /Applications "$folder/Applications"
hdiutil create -volname Sayso -srcfolder "$folder" -ov -format UDZO "$image"
codesign --timestamp --sign "$SAYSO_SIGNING_IDENTITY" "$image"
xcrun notarytool submit "$image" --wait \
    --apple-id "$SAYSO_APPLE_ID" --team-id "$SAYSO_TEAM_ID" --password "$SAYSO_APP_PASSWORD"
xcrun stapler staple "$image"
echo "$image"
