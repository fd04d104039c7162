import { createHash } from 'node:crypto';
import { htmlAnswer, type PublicPage } from '../platform/http/pages/index.ts';

// The page of links until the console has pages of its own. The secret stands behind the `#`: it reaches this script alone,
// and no log of a server.

const SCRIPT = `
const token = location.hash.slice(1);
history.replaceState(null, '', location.pathname);
const form = document.querySelector('form');
const status = document.querySelector('[role=status]');
const say = (text) => { status.textContent = text; };
const ask = async (path, options) => {
  const answer = await fetch('/console/api/' + path, options);
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.error.message);
  return body;
};
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const { password, code } = form.elements;
  const given = { token };
  if (password.value !== '') given.password = password.value;
  if (code.value !== '') given.code = code.value;
  try {
    const answer = await ask('links/redeem', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(given),
    });
    if (answer.status === 'code_required') return say('Enter the code of your authenticator app too.');
    const me = await ask('me');
    form.hidden = true;
    const roles = me.merchants.map(({ role, name }) => role + ' of ' + name);
    if (me.installation_role) roles.push(me.installation_role);
    say('You are signed in as ' + me.email + ': ' + roles.join(', ') + '.');
    document.querySelector('#next').hidden = false;
  } catch (error) {
    say(error.message);
  }
});
`;

const STYLE = `
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 26rem; margin: 12vh auto; padding: 0 1rem; }
label { display: block; margin: 1rem 0 0.25rem; }
input, button { font: inherit; width: 100%; box-sizing: border-box; padding: 0.5rem; }
button { margin-top: 1.5rem; }
a { color: inherit; }
`;

const HTML = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign in - Florin</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Florin console</h1>
<p>This link works once.</p>
<form>
<label for="password">Password (a new one of 12 characters or more if you are new here; none for a link from the terminal)</label>
<input id="password" name="password" type="password" autocomplete="current-password">
<label for="code">Code of your authenticator app, if you have one</label>
<input id="code" name="code" inputmode="numeric" autocomplete="one-time-code">
<button>Sign in</button>
</form>
<p role="status"></p>
<p id="next" hidden>The console has no more pages yet. What people with a role can do until then, by its routes, is in
<a href="/docs/operating#people-and-roles">People and roles</a>.</p>
</main>
<script>${SCRIPT}</script>
</body>
</html>
`;

const digestOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const POLICY = {
  'script-src': digestOf(SCRIPT),
  'style-src': digestOf(STYLE),
  'connect-src': "'self'",
};

/** Where invitations and links for signing in lead. */
export const linkPage = (): PublicPage => ({
  path: '/console/link',
  handle: async () => htmlAnswer({ html: HTML, policy: POLICY }),
});
