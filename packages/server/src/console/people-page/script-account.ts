/** What is one's own: what is needed first stands first. */
export const ACCOUNT = `
function rolesOf() {
  const roles = me.merchants.map(({ role, name }) => role + ' of ' + name);
  if (me.installation_role) roles.push(me.installation_role);
  return roles.length === 0 ? 'no role yet' : roles.join(', ');
}
const lacksFactor = () => !me.second_factor &&
  (me.installation_role !== null || me.merchants.some((one) => one.needs_second_factor));

/** One button is the next step. While an authenticator app is being set up, nothing else is added. */
function showSteps() {
  const needed = lacksFactor();
  const isSettingUp = !find('#totp').hidden;
  const hasPasskeys = noPasskeys === undefined;
  show('add-passkey', hasPasskeys && !isSettingUp);
  show('totp-or', hasPasskeys && !isSettingUp && !me.authenticator);
  show('totp-begin', !isSettingUp && !me.authenticator);
  show('totp-back', isSettingUp);
  const next = isSettingUp ? '#totp button'
    : !needed ? '#open'
    : hasPasskeys ? '#add-passkey button' : '#totp-begin';
  for (const selector of ['#totp button', '#open', '#add-passkey button', '#totp-begin'])
    find(selector).classList.toggle('primary', selector === next);
  find(needed ? '#open-later' : '#open-first').append(find('#open'));
}

/** All of it appears at once: nothing moves under the pointer of somebody who is about to press a button. */
async function showAccount(text) {
  const [account, sessions, codes, passkeys] = await Promise.all(
    ['me', 'sessions', 'factors/recovery-codes', 'factors/passkeys'].map((path) => ask('GET', path)),
  );
  me = account;
  const isFirst = find('#account').hidden;
  showView('Your account', 'You are signed in as ' + me.email + ': ' + rolesOf() + '.');
  showSessions(sessions.data);
  showCodesLeft(codes.left);
  showPasskeys(passkeys.data);
  show('authenticator', me.authenticator);
  show('prove-passkey', noPasskeys === undefined);
  showNoPasskeys(find('#add-passkey'));
  const needed = lacksFactor();
  show('needed', needed);
  find('#factors h2').textContent = needed ? 'Set up a second factor' : 'Second factor';
  find('#factors').classList.toggle('urgent', needed);
  show('recovery', me.second_factor);
  // Codes go with the last factor.
  if (!me.second_factor) hideCodes();
  showSteps();
  say(text ?? '', 'good');
  show('come', false);
  show('account', true);
  if (isFirst) find('h1').focus();
}

onSubmit('set-password', async (form, element) => {
  await ask('POST', 'password', form);
  element.reset();
  await showAccount('Your password is set. Your other sessions have ended.');
});
onClick('out', async () => {
  await ask('POST', 'sign-out');
  location.assign('/console/sign-in');
});
`;
