/** The authenticator app and recovery codes. */
export const FACTORS = String.raw`
function showCodes(codes) {
  if (codes.length === 0) return;
  find('#codes').textContent = codes.join('\n');
  show('new-codes', true);
  find('#new-codes h2').focus();
}
function hideCodes() {
  find('#codes').textContent = '';
  show('new-codes', false);
}
function showCodesLeft(left) {
  find('#codes-left').textContent = left === 0 ? 'None is left.' : left === 1 ? 'One is left.' : left + ' are left.';
}
onClick('codes-copy', async () => {
  const codes = find('#codes');
  // The clipboard is for pages of https and of localhost; whoever is elsewhere finds the codes selected.
  if (navigator.clipboard === undefined) {
    getSelection().selectAllChildren(codes);
    return say('The codes are selected: copy them with your keyboard.');
  }
  await navigator.clipboard.writeText(codes.textContent);
  say('The recovery codes are copied.', 'good');
});
onClick('codes-save', async () => {
  const text = 'Recovery codes of ' + me.email + ' at ' + location.host + '. Each works once.\n\n' +
    find('#codes').textContent + '\n';
  const file = document.createElement('a');
  file.href = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  file.download = 'florin-recovery-codes.txt';
  file.click();
  URL.revokeObjectURL(file.href);
});

onClick('totp-begin', async () => {
  const { secret, uri, qr_svg } = await ask('POST', 'factors/totp');
  find('#qr').src = 'data:image/svg+xml;base64,' + btoa(qr_svg);
  find('#secret').textContent = secret.replace(/(.{4})(?=.)/g, '$1 ');
  find('#uri').href = uri;
  show('totp', true);
  showSteps();
  find('#totp input').focus();
});
onClick('totp-back', async () => {
  find('#totp').reset();
  show('totp', false);
  showSteps();
  find('#totp-begin').focus();
});
onSubmit('totp', async (form, element) => {
  const { recovery_codes } = await ask('POST', 'factors/totp/confirm', form);
  element.reset();
  show('totp', false);
  await showAccount('Your authenticator app is set up. Keep the recovery codes now: they are not shown again.');
  showCodes(recovery_codes);
});
onClick('totp-remove', async () => {
  await ask('DELETE', 'factors/totp');
  await showAccount('Your authenticator app and its recovery codes are removed.');
});
onClick('codes-renew', async () => {
  const { recovery_codes } = await ask('POST', 'factors/recovery-codes');
  await showAccount('New recovery codes are made. Keep the recovery codes now: they are not shown again, and earlier ones work no more.');
  showCodes(recovery_codes);
});
`;
