/** Passkeys of the browser: to come in, to prove who is there, and to add one. */
export const PASSKEYS = String.raw`
const IS_LOOPBACK = /^127\.|^\[::1\]$/.test(location.hostname);
/** Why this page can use no passkey, however often somebody presses; undefined: it can. */
function whyNoPasskeys() {
  if (/^[\d.]+$|^\[/.test(location.hostname))
    return 'A passkey belongs to a name: open this page by its name' + (IS_LOOPBACK ? ' (localhost)' : '') +
      ', not by an IP address.';
  if (!window.PublicKeyCredential?.parseCreationOptionsFromJSON)
    return 'This page can use no passkeys: they need https and a recent browser.';
}
const noPasskeys = whyNoPasskeys();
/** The notice stands in the view that is shown. */
function showNoPasskeys(place) {
  const notice = find('#no-passkeys');
  notice.textContent = noPasskeys ?? '';
  if (IS_LOOPBACK) {
    const link = document.createElement('a');
    link.href = Object.assign(new URL(location.href), { hostname: 'localhost' }).href;
    link.textContent = 'Open it as localhost';
    notice.append(' ', link, '.');
  }
  notice.hidden = noPasskeys === undefined;
  place.before(notice);
}

/** Asks one of the passkeys of this device or of a security key. */
async function askPasskey(path) {
  if (noPasskeys !== undefined) throw new Error(noPasskeys);
  const { options } = await ask('POST', path + '/options');
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  const credential = (await navigator.credentials.get({ publicKey })).toJSON();
  return await ask('POST', path, { credential });
}

/** Of a passkey that this browser has just made, by its own word and not by the server's. */
async function fingerprintOf({ publicKey }) {
  if (publicKey === undefined) return '';
  const bytes = Uint8Array.from(atob(publicKey.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  const digits = [...digest.slice(0, 10)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return ' Its fingerprint is ' + digits.replace(/(.{4})(?=.)/g, '$1-') + ': the operator of a signer asks for it.';
}

onSubmit('add-passkey', async (form, element) => {
  const { options } = await ask('POST', 'factors/passkeys/options');
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  const credential = (await navigator.credentials.create({ publicKey })).toJSON();
  const { recovery_codes } = await ask('POST', 'factors/passkeys', { ...form, credential });
  element.reset();
  const kept = recovery_codes.length === 0 ? '' : ' Keep the recovery codes now: they are not shown again.';
  await showAccount('Your passkey is set up.' + kept + (await fingerprintOf(credential.response)));
  showCodes(recovery_codes);
});

function showPasskeys(passkeys) {
  find('#passkeys').replaceChildren(...passkeys.map((passkey) => {
    const fingerprint = document.createElement('code');
    fingerprint.textContent = passkey.fingerprint;
    return listItem([passkey.name], ['Passkey, fingerprint ', fingerprint], {
      name: 'Remove',
      press: async () => {
        await ask('DELETE', 'factors/passkeys/' + passkey.passkey_id);
        await showAccount('The passkey is removed.');
      },
    });
  }));
}
`;
