/** How people come in: with e-mail address and password, by a passkey, or by a link, which says what it takes. */
export const COME = String.raw`
const token = location.hash.slice(1);
if (token !== '') history.replaceState(null, '', location.pathname + location.search);
const byLink = location.pathname.endsWith('/link');
let needs;

/** A path that a browser would not send as it is here names no page. */
const decoded = (path) => { try { return decodeURIComponent(path); } catch { return '/console/api'; } };
/**
 * The page of the console that somebody wanted before they signed in; no other site's, and none of the API. Whoever opened the
 * sign-in itself wants the console; who came by a link may have to set up what is their own.
 */
function wantedPage() {
  const given = new URLSearchParams(location.search).get('next') ?? (location.pathname.endsWith('/sign-in') ? '/console' : null);
  if (given === null || !URL.canParse(given, location.origin)) return undefined;
  const { origin, pathname, search } = new URL(given, location.origin);
  const isPage = /^\/console(?:\/|$)/.test(pathname) && !/^\/console\/+api(?:\/|$)/i.test(decoded(pathname));
  return origin === location.origin && isPage ? pathname + search : undefined;
}
const next = wantedPage();

/** What is tried again where the service could not be reached. */
let retry = () => {};
async function orRetry(work) {
  show('retry', false);
  try {
    await work();
  } catch (error) {
    retry = () => orRetry(work);
    show('retry', true);
    throw error;
  }
}

/** Goes on to the page that was wanted, once nothing has to be set up first. */
async function comeIn() {
  // Whoever loads the page again is not asked to come in again, and a link is not sent again that was used just now.
  history.replaceState(null, '', '/console/account' + location.search);
  show('come', false);
  await orRetry(showAccount);
  if (next !== undefined && !lacksFactor()) location.assign(next);
}

/** A field that is not there is neither sent nor asked for. */
function showField(name, isShown) {
  const input = find('#come-' + name);
  input.closest('.field').hidden = !isShown;
  input.disabled = !isShown;
}
function showSignIn() {
  showView('Sign in');
  show('come', true);
  show('come-or', noPasskeys === undefined);
  show('come-passkey', noPasskeys === undefined);
  showNoPasskeys(find('#come-or'));
}

function showGone(lead) {
  showView('This link works no more', lead);
  show('come', false);
  show('gone', true);
  find('h1').focus();
}
/** Asks for what the link needs and nothing else. The address stands there for password managers. */
function showLink(link) {
  needs = link.needs;
  const place = link.merchant_name ?? 'this installation';
  const by = link.invited_by === null ? '' : 'By ' + link.invited_by + '. ';
  if (link.kind === 'sign_in') showView('Sign in', 'This link signs you in, once.');
  else if (needs === 'new_password')
    showView('You are invited to ' + place + ' as ' + link.role, by + 'Choose a password, with which you sign in from then on.');
  else showView('You are invited to ' + place + ' as ' + link.role, by + 'You have an account here already: sign in to accept.');
  const isNew = needs === 'new_password';
  showField('email', needs !== 'nothing');
  showField('password', needs !== 'nothing');
  showField('code', needs === 'password');
  const [email, password] = [find('#come-email'), find('#come-password')];
  email.value = link.email;
  email.readOnly = true;
  email.removeAttribute('name');
  password.autocomplete = isNew ? 'new-password' : 'current-password';
  find('#come-password-hint').textContent = isNew ? '12 characters or more.' : '';
  find('#come-go').textContent = link.kind === 'sign_in' ? 'Sign in as ' + link.email : 'Accept and sign in';
  show('come', true);
  if (needs !== 'nothing') password.focus();
}
const lookAtLink = () => orRetry(async () => {
  try {
    showLink(await ask('POST', 'links/look', { token }));
  } catch (error) {
    if (error.status === 401) return showGone(error.message);
    if (error.status === 400) return showGone('The link is not whole: copy all of it.');
    throw error;
  }
});
async function redeem(form) {
  try {
    return await ask('POST', 'links/redeem', { token, ...form });
  } catch (error) {
    // Nothing that was typed could be wrong.
    if (error.status === 401 && needs !== 'password') return showGone(error.message);
    throw error;
  }
}

onSubmit('come', async (form, element) => {
  const answer = await (byLink ? redeem(form) : ask('POST', 'sign-in', form));
  if (answer?.status === 'code_required')
    return showBeside(element.elements.namedItem('code'), 'Enter the code of your authenticator app too.');
  if (answer !== undefined) await comeIn();
});
onClick('come-passkey', async () => {
  await askPasskey('sign-in/passkey');
  await comeIn();
});
onClick('retry', () => retry());

async function start() {
  if (next !== undefined) find('#open').href = next;
  if (byLink && token === '')
    return showView('Open the link again', 'Its secret is not kept in the address. Open it from the mail or the terminal again: it works until it is used.');
  if (byLink) return await run(lookAtLink);
  if (!location.pathname.endsWith('/account')) return showSignIn();
  try {
    await showAccount();
  } catch (error) {
    showSignIn();
    say(error.message, 'bad');
  }
}
// Another link that is opened in this tab changes the part behind the # alone, which loads nothing.
addEventListener('hashchange', () => { if (byLink && location.hash.length > 1) location.reload(); });
void start();
`;
