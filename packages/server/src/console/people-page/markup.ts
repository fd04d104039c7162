interface Field {
  /** Of the form; the field's name, too, makes its id. */
  form: string;
  name: string;
  label: string;
  hint?: string;
  attributes: string;
}

/** What is wrong with a field is put at its end by the script. */
function field({ form, name, label, hint, attributes }: Field): string {
  const id = `${form}-${name}`;
  const described = hint === undefined ? '' : ` aria-describedby="${id}-hint" data-hint="${id}-hint"`;
  const below = hint === undefined ? '' : `\n<p class="hint" id="${id}-hint">${hint}</p>`;
  return `<div class="field">
<label for="${id}">${label}</label>
<input id="${id}" name="${name}" ${attributes}${described}>${below}
</div>`;
}

const password = (form: string, given: Pick<Field, 'label' | 'attributes'> & { hint?: string }) =>
  field({
    form,
    name: 'password',
    ...given,
    attributes: `type="password" maxlength="256" required ${given.attributes}`,
  });
const CODE = 'inputmode="numeric" autocomplete="one-time-code" maxlength="64"';
const code = (form: string) =>
  field({
    form,
    name: 'code',
    label: 'Code',
    hint: 'Of your authenticator app, or a recovery code. Leave it empty if you have set up neither.',
    attributes: CODE,
  });

const COME = `<form id="come" hidden>
${field({ form: 'come', name: 'email', label: 'E-mail address', attributes: 'type="email" autocomplete="username" maxlength="256" required' })}
${password('come', { label: 'Password', hint: '', attributes: 'autocomplete="current-password"' })}
${code('come')}
<button id="come-go" class="primary">Sign in</button>
<div id="come-or" class="or" hidden>or</div>
<button id="come-passkey" type="button" hidden>Sign in with a passkey</button>
</form>`;

/** In the place of what a link is for, when it is for nothing any more. */
const GONE = `<div id="gone" hidden>
<p>If you were invited, ask whoever invited you for a new link. If you run this service, make one in the terminal:</p>
<p><code>florin console link</code></p>
<a class="button" href="/console/sign-in">Sign in with a password or passkey</a>
</div>
<button id="retry" type="button" hidden>Try again</button>`;

const PROVE = `<dialog id="proof" aria-labelledby="prove-title">
<form id="prove">
<h2 id="prove-title">Is it you?</h2>
<p class="quiet">This change asks for your password and code, or for a passkey.</p>
<p role="status"></p>
${password('prove', {
  label: 'Your password',
  hint: 'You have none yet? Come in by a new link, and go on within 5 minutes.',
  attributes: 'autocomplete="current-password"',
})}
${code('prove')}
<button class="primary">Go on</button>
<button id="prove-passkey" type="button">Use a passkey</button>
<button id="prove-cancel" type="button" class="subtle">Cancel</button>
</form>
</dialog>`;

const FACTORS = `<section id="factors" class="part">
<h2>Second factor</h2>
<p id="needed" hidden>Your role needs a second factor: until a passkey or an authenticator app is set up you may do nothing.</p>
<ul id="passkeys"></ul>
<ul id="authenticator" hidden><li><span class="what">Authenticator app</span><button id="totp-remove" type="button" aria-label="Remove the authenticator app">Remove</button></li></ul>
<form id="add-passkey">
${field({
  form: 'add-passkey',
  name: 'name',
  label: 'Name of the new passkey',
  hint: 'Your device or security key keeps it and asks for your finger, face or PIN.',
  attributes: 'maxlength="64" value="Passkey" required',
})}
<button>Add a passkey</button>
</form>
<div id="totp-or" class="or">or</div>
<button id="totp-begin" type="button">Set up an authenticator app</button>
<form id="totp" hidden>
<h2 class="step">Authenticator app</h2>
<p>Scan this code with the app, <a id="uri">open it in the app</a> of this device, or type in <code id="secret"></code>.</p>
<img id="qr" alt="Code to scan with the authenticator app">
${field({ form: 'totp', name: 'code', label: 'The six digits that the app shows', attributes: `${CODE} required` })}
<button>Confirm</button>
</form>
<button id="totp-back" type="button" class="subtle" hidden>Cancel</button>
</section>`;

const NEW_CODES = `<section id="new-codes" class="part" hidden>
<h2 tabindex="-1">Keep your recovery codes</h2>
<p class="quiet">Each works once in the place of the app or passkey. Keep them where nobody else finds them.</p>
<pre id="codes"></pre>
<div class="row">
<button id="codes-copy" type="button">Copy</button>
<button id="codes-save" type="button">Download</button>
</div>
</section>`;

const ACCOUNT = `<div id="account" hidden>
${NEW_CODES}
<div id="open-first"><a id="open" class="button" href="/console">Open the console</a></div>
${FACTORS}
<div id="open-later"></div>
<section id="recovery" class="part" hidden>
<h2>Recovery codes</h2>
<p class="quiet">Each works once in the place of the app or passkey. <span id="codes-left"></span></p>
<button id="codes-renew" type="button">Make new recovery codes</button>
</section>
<details class="part">
<summary><h2>Password</h2></summary>
<form id="set-password">
${password('set-password', {
  label: 'New password',
  hint: '12 characters or more. Your other sessions end.',
  attributes: 'minlength="12" autocomplete="new-password"',
})}
<button>Set the password</button>
</form>
</details>
<section class="part">
<h2>Your sessions</h2>
<ul id="sessions"></ul>
</section>
<div class="part foot">
<a href="/docs/operating#people-and-roles">People and roles</a>
<button id="out" type="button">Sign out</button>
</div>
</div>`;

/** What all pages of people hold; the script shows what is needed. */
export const documentOf = (
  { title, heading }: { title: string; heading: string },
  { style, script }: { style: string; script: string },
): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Florin</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<header class="brand"><span class="mark" aria-hidden="true">F</span>Florin console</header>
<main>
<h1 tabindex="-1">${heading}</h1>
<p id="lead" class="quiet" hidden></p>
<p id="said" role="status"></p>
<noscript><p>The console needs JavaScript.</p></noscript>
${COME}
${GONE}
${ACCOUNT}
<p id="no-passkeys" class="hint" hidden></p>
${PROVE}
</main>
<script>${script}</script>
</body>
</html>
`;
