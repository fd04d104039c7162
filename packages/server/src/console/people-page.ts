import { createHash } from 'node:crypto';
import { htmlAnswer, type PublicPage } from '../platform/http/pages/index.ts';
import { SCRIPT } from './people-page-script.ts';

// The pages on which people come in and set up password and authenticator. The secret of a link stands behind the `#`: it
// reaches the script alone, and no log of a server.

const STYLE = `
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 28rem; margin: 8vh auto; padding: 0 1rem; overflow-wrap: anywhere; }
label { display: block; margin: 1rem 0 0.25rem; }
input, button { font: inherit; width: 100%; box-sizing: border-box; padding: 0.5rem; }
button { margin-top: 1rem; }
a { color: inherit; }
h2 { font-size: 1.125rem; margin: 2rem 0 0; }
li button { width: auto; margin: 0 0 0 0.5rem; padding: 0 0.5rem; }
img { display: block; width: 12rem; height: 12rem; margin: 1rem 0; background: #fff; }
code, pre { font: 1rem/1.6 ui-monospace, monospace; white-space: pre-wrap; }
[aria-invalid] { outline: 2px solid #c0392b; }
.finding { display: block; font-weight: 600; }
[hidden] { display: none; }
`;

const field = (label: string, input: string) => `<label>${label}\n<input ${input}></label>`;
const PASSWORD = 'name="password" type="password" maxlength="256"';
const CODE = 'name="code" inputmode="numeric" autocomplete="one-time-code" maxlength="64"';

const COME = `<form id="come">
<p id="once" hidden>This link works once.</p>
<div id="email">${field('E-mail address', 'name="email" type="email" autocomplete="username" required')}</div>
${field(
  'Password (with a link: a new one of 12 characters or more if you are new here; none if the link comes from the terminal)',
  `${PASSWORD} autocomplete="current-password"`,
)}
${field('Code of your authenticator app, or a recovery code, if you have one', CODE)}
<button>Sign in</button>
<button id="come-passkey" type="button" hidden>Sign in with a passkey</button>
</form>`;

const PROVE = `<form id="prove" hidden>
<h2>Is it you?</h2>
${field('Your password', `${PASSWORD} autocomplete="current-password" required`)}
${field('Code of your authenticator app, or a recovery code, if you have one', CODE)}
<button>Go on</button>
<button id="prove-passkey" type="button">Use a passkey</button>
</form>`;

const ACCOUNT = `<div id="account" hidden>
<p><a id="open" href="/console">Open the console</a> · <a href="/docs/operating#people-and-roles">People and roles</a></p>
<p id="needed" hidden>Your role needs a second factor: until a passkey or an authenticator app is set up you may do nothing.</p>
<form id="add-passkey">
<h2>Passkeys</h2>
<ul id="passkeys"></ul>
${field('Name of a new passkey', 'name="name" maxlength="64" value="Passkey" required')}
<button>Add a passkey</button>
</form>
<section>
<h2>Authenticator app</h2>
<button id="totp-begin" type="button">Set up an authenticator app</button>
<form id="totp" hidden>
<p>Scan this code with the app, <a id="uri">open it in the app</a> of this device, or type in <code id="secret"></code>.</p>
<img id="qr" alt="Code to scan with the authenticator app">
${field('The six digits that the app shows', `${CODE} required`)}
<button>Confirm</button>
</form>
<button id="totp-remove" type="button" hidden>Remove the authenticator app</button>
</section>
<section id="recovery" hidden>
<h2>Recovery codes</h2>
<p>Each works once in the place of the app or passkey. <span id="codes-left"></span></p>
<div id="new-codes" hidden>
<p>Keep these where nobody else finds them.</p>
<pre id="codes"></pre>
</div>
<button id="codes-renew" type="button">Make new recovery codes</button>
</section>
<form id="set-password">
<h2>Password</h2>
${field('New password, 12 characters or more', `${PASSWORD} minlength="12" autocomplete="new-password" required`)}
<button>Set the password</button>
</form>
<section>
<h2>Your sessions</h2>
<ul id="sessions"></ul>
</section>
<button id="out" type="button">Sign out</button>
</div>`;

const HTML = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign in · Florin</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Florin console</h1>
<p role="status"></p>
${COME}
${PROVE}
${ACCOUNT}
</main>
<script>${SCRIPT}</script>
</body>
</html>
`;

const digestOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const POLICY = {
  'script-src': digestOf(SCRIPT),
  'style-src': digestOf(STYLE),
  'img-src': 'data:',
  'connect-src': "'self'",
};

/** Where people sign in, where invitations and links lead, and where people find what is their own. */
export const peoplePages = (): PublicPage[] =>
  ['/console/sign-in', '/console/link', '/console/account'].map((path) => ({
    path,
    handle: async () => htmlAnswer({ html: HTML, policy: POLICY }),
  }));
