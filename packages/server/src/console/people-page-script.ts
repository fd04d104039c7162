/** The script of the pages on which people come in and set up what is their own. Text is shown as text, never as HTML. */
export const SCRIPT = `
const token = location.hash.slice(1);
if (token !== '') history.replaceState(null, '', location.pathname);
const byLink = location.pathname.endsWith('/link');
const find = (selector) => document.querySelector(selector);
const status = find('[role=status]');
const say = (text) => { status.textContent = text; };
let me;
let again;
/** The page of the console that somebody wanted before they signed in; no other site's, and none of the API. */
function wantedPage() {
  const given = new URLSearchParams(location.search).get('next');
  if (given === null || !URL.canParse(given, location.origin)) return undefined;
  const { origin, pathname, search } = new URL(given, location.origin);
  const isPage = /^\\/console(?:\\/|$)/.test(pathname) && !/^\\/console\\/+api(?:\\/|$)/.test(pathname);
  return origin === location.origin && isPage ? pathname + search : undefined;
}
const next = wantedPage();
const show = (id, isShown) => { find('#' + id).hidden = !isShown; };

async function ask(method, path, body) {
  const headers = {};
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (me !== undefined) headers['x-csrf-token'] = me.csrf_token;
  const answer = await fetch('/console/api/' + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const given = await answer.json();
  if (answer.ok) return given;
  throw Object.assign(new Error(given.error.message), { param: given.error.param });
}

/** A finding stands beside the field that it is about. */
function showBeside(input, message) {
  const finding = document.createElement('span');
  finding.className = 'finding';
  finding.id = input.form.id + '-' + input.name + '-finding';
  finding.textContent = message;
  (input.closest('label') ?? input).after(finding);
  input.setAttribute('aria-invalid', 'true');
  input.setAttribute('aria-describedby', finding.id);
  input.focus();
}
function clearFindings() {
  for (const finding of document.querySelectorAll('.finding')) finding.remove();
  for (const input of document.querySelectorAll('[aria-invalid]')) {
    input.removeAttribute('aria-invalid');
    input.removeAttribute('aria-describedby');
  }
}

/** Runs what a form or button is for; asks for a proof first where the server wants one, and then goes on. */
async function run(work, form) {
  say('');
  clearFindings();
  try {
    await work();
  } catch (error) {
    const { param, message } = error;
    if (param === 'proof') {
      again = () => run(work, form);
      show('prove', true);
      find('#prove input').focus();
    }
    const input = param === undefined ? undefined : form?.elements.namedItem(param);
    if (input) showBeside(input, message);
    else say(message);
  }
}

const given = (form) =>
  Object.fromEntries([...new FormData(form)].filter(([, value]) => value !== ''));
function onSubmit(id, work) {
  find('#' + id).addEventListener('submit', (event) => {
    event.preventDefault();
    const form = event.target;
    void run(() => work(given(form), form), form);
  });
}
const onClick = (id, work) => find('#' + id).addEventListener('click', () => void run(work));

function rolesOf() {
  const roles = me.merchants.map(({ role, name }) => role + ' of ' + name);
  if (me.installation_role) roles.push(me.installation_role);
  return roles.length === 0 ? 'no role yet' : roles.join(', ');
}

/** All of it appears at once: nothing moves under the pointer of somebody who is about to press a button. */
async function showAccount(text) {
  const [account, sessions, codes, passkeys] = await Promise.all(
    ['me', 'sessions', 'factors/recovery-codes', 'factors/passkeys'].map((path) => ask('GET', path)),
  );
  me = account;
  document.title = 'Your account · Florin';
  showSessions(sessions.data);
  showCodesLeft(codes.left);
  showPasskeys(passkeys.data);
  show('totp-begin', !me.authenticator);
  show('totp-remove', me.authenticator);
  const needed = !me.second_factor &&
    (me.installation_role !== null || me.merchants.some((one) => one.needs_second_factor));
  show('needed', needed);
  show('recovery', me.second_factor);
  say(text ?? 'You are signed in as ' + me.email + ': ' + rolesOf() + '.');
  for (const id of ['come', 'prove']) show(id, false);
  for (const id of ['account', 'out']) show(id, true);
}

function showCodesLeft(left) {
  find('#codes-left').textContent = left === 0 ? 'None is left.' : left === 1 ? 'One is left.' : left + ' are left.';
}

function showPasskeys(passkeys) {
  find('#passkeys').replaceChildren(...passkeys.map((passkey) => {
    const item = document.createElement('li');
    const fingerprint = document.createElement('code');
    fingerprint.textContent = passkey.fingerprint;
    item.append(passkey.name + ' ', fingerprint);
    const remove = document.createElement('button');
    remove.type = 'button';
    remove.textContent = 'Remove';
    remove.addEventListener('click', () => void run(async () => {
      await ask('DELETE', 'factors/passkeys/' + passkey.passkey_id);
      await showAccount('The passkey is removed.');
    }));
    item.append(remove);
    return item;
  }));
}

function checkName() {
  if (!window.PublicKeyCredential?.parseCreationOptionsFromJSON)
    throw new Error('This browser knows no passkeys on this page.');
  if (/^[\\d.]+$|^\\[/.test(location.hostname))
    throw new Error('A passkey belongs to a name: open this page by its name (localhost), not by an IP address.');
}

/** Of a passkey that this browser has just made, by its own word and not by the server's. */
async function fingerprintOf({ publicKey }) {
  if (publicKey === undefined) return '';
  const bytes = Uint8Array.from(atob(publicKey.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  const digits = [...digest.slice(0, 10)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return ' Its fingerprint is ' + digits.replace(/(.{4})(?=.)/g, '$1-') + ': the operator of a signer asks for it.';
}

/** Asks one of the passkeys of this device or of a security key. */
async function askPasskey(path) {
  checkName();
  const { options } = await ask('POST', path + '/options');
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  const credential = (await navigator.credentials.get({ publicKey })).toJSON();
  return await ask('POST', path, { credential });
}

function showSessions(sessions) {
  find('#sessions').replaceChildren(...sessions.map((session) => {
    const item = document.createElement('li');
    const where = document.createElement('span');
    where.textContent = session.remote_address + ', since ' + session.created_at.slice(0, 16).replace('T', ' ') +
      ' UTC, ' + session.user_agent;
    item.append(where);
    if (session.is_this_one) {
      item.append(' (this one)');
      return item;
    }
    const end = document.createElement('button');
    end.type = 'button';
    end.textContent = 'End';
    end.addEventListener('click', () => void run(async () => {
      await ask('DELETE', 'sessions/' + session.session_id);
      await showAccount('The session has ended.');
    }));
    item.append(end);
    return item;
  }));
}

onSubmit('come', async (form) => {
  const answer = byLink
    ? await ask('POST', 'links/redeem', { token, ...form })
    : await ask('POST', 'sign-in', form);
  if (answer.status === 'code_required') return say('Enter the code of your authenticator app too.');
  await comeIn();
});
/** Goes on to the page that was wanted, once nothing has to be set up first. */
async function comeIn() {
  await showAccount();
  if (next !== undefined && find('#needed').hidden) location.assign(next);
}
async function goOn() {
  find('#prove').reset();
  show('prove', false);
  const work = again;
  again = undefined;
  if (work !== undefined) await work();
}
onSubmit('prove', async (form) => {
  await ask('POST', 'proof', form);
  await goOn();
});
onClick('prove-passkey', async () => {
  await askPasskey('proof/passkey');
  await goOn();
});
onClick('come-passkey', async () => {
  await askPasskey('sign-in/passkey');
  await comeIn();
});
onSubmit('add-passkey', async (form, element) => {
  checkName();
  const { options } = await ask('POST', 'factors/passkeys/options');
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  const credential = (await navigator.credentials.create({ publicKey })).toJSON();
  const { recovery_codes } = await ask('POST', 'factors/passkeys', { ...form, credential });
  element.reset();
  showCodes(recovery_codes);
  const kept = recovery_codes.length === 0 ? '' : ' Keep the recovery codes now: they are not shown again.';
  await showAccount('Your passkey is set up.' + kept + (await fingerprintOf(credential.response)));
});
function showCodes(codes) {
  if (codes.length === 0) return;
  find('#codes').textContent = codes.join('\\n');
  show('new-codes', true);
}
function hideCodes() {
  find('#codes').textContent = '';
  show('new-codes', false);
}
onSubmit('set-password', async (form, element) => {
  await ask('POST', 'password', form);
  element.reset();
  await showAccount('Your password is set. Your other sessions have ended.');
});
onClick('totp-begin', async () => {
  const { secret, uri, qr_svg } = await ask('POST', 'factors/totp');
  find('#qr').src = 'data:image/svg+xml;base64,' + btoa(qr_svg);
  find('#secret').textContent = secret.replace(/(.{4})(?=.)/g, '$1 ');
  find('#uri').href = uri;
  show('totp-begin', false);
  show('totp', true);
  find('#totp input').focus();
});
onSubmit('totp', async (form, element) => {
  const { recovery_codes } = await ask('POST', 'factors/totp/confirm', form);
  element.reset();
  show('totp', false);
  showCodes(recovery_codes);
  await showAccount('Your authenticator app is set up. Keep the recovery codes now: they are not shown again.');
});
onClick('totp-remove', async () => {
  await ask('DELETE', 'factors/totp');
  hideCodes();
  await showAccount('Your authenticator app and its recovery codes are removed.');
});
onClick('codes-renew', async () => {
  const { recovery_codes } = await ask('POST', 'factors/recovery-codes');
  showCodes(recovery_codes);
  await showAccount('New recovery codes are made. Keep the recovery codes now: they are not shown again, and earlier ones work no more.');
});
onClick('out', async () => {
  await ask('POST', 'sign-out');
  location.assign('/console/sign-in');
});

if (next !== undefined) find('#open').href = next;
show('email', !byLink);
find('#email input').disabled = byLink;
show('once', byLink);
show('come-passkey', !byLink);
if (location.pathname.endsWith('/account')) void run(() => showAccount());
`;
