/** What all views share: calls, what is said, findings beside fields, and the proof that a change asks for. */
export const BASICS = `
const find = (selector) => document.querySelector(selector);
const show = (id, isShown) => { find('#' + id).hidden = !isShown; };
let me;

/** Says something where people look: in the dialog while it is open. */
function say(text, tone = '') {
  const place = find('#proof').open ? find('#proof [role=status]') : find('#said');
  place.dataset.tone = tone;
  place.textContent = text;
}
/** Names the view that is shown, and says what it is about. */
function showView(heading, lead = '') {
  document.title = heading + ' · Florin';
  find('h1').textContent = heading;
  find('#lead').textContent = lead;
  show('lead', lead !== '');
}

async function ask(method, path, body) {
  const headers = {};
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (me !== undefined) headers['x-csrf-token'] = me.csrf_token;
  let answer;
  let given;
  try {
    answer = await fetch('/console/api/' + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    given = await answer.json();
  } catch {
    throw new Error('The service cannot be reached. Is the network there?');
  }
  if (answer.ok) return given;
  // What stands before the service answers in its own way.
  const { message = 'The service refused this (' + answer.status + ').', param } = given?.error ?? {};
  throw Object.assign(new Error(message), { param, status: answer.status });
}

/** What a browser says of a passkey is written for programmers. */
function messageOf({ name, message }) {
  if (name === 'NotAllowedError') return 'No passkey was used: that was canceled, or took too long.';
  if (name === 'InvalidStateError') return 'This device has a passkey for this account already.';
  return message;
}

/** A finding stands beside the field that it is about. */
function showBeside(input, message) {
  const finding = document.createElement('span');
  finding.className = 'finding';
  finding.id = input.form.id + '-' + input.name + '-finding';
  finding.textContent = message;
  (input.closest('.field') ?? input).append(finding);
  input.setAttribute('aria-invalid', 'true');
  input.setAttribute('aria-describedby', [finding.id, input.dataset.hint ?? ''].join(' ').trim());
  input.focus();
}
function clearFindings() {
  for (const finding of document.querySelectorAll('.finding')) finding.remove();
  for (const input of document.querySelectorAll('[aria-invalid]')) {
    input.removeAttribute('aria-invalid');
    if (input.dataset.hint) input.setAttribute('aria-describedby', input.dataset.hint);
    else input.removeAttribute('aria-describedby');
  }
}

/** Runs what a form or button is for; asks for a proof first where the server wants one, and then goes on. */
async function run(work, form) {
  say('');
  clearFindings();
  try {
    await work();
  } catch (error) {
    const { param } = error;
    const message = messageOf(error);
    if (param === 'proof') {
      if (await askProof()) await run(work, form);
      return;
    }
    // Codes that are shown once stay.
    if (error.status === 401 && param === undefined && me !== undefined && find('#new-codes').hidden)
      return location.reload();
    const input = param === undefined ? undefined : form?.elements.namedItem(param);
    if (input) showBeside(input, message);
    else say(message, 'bad');
  }
}

const given = (form) =>
  Object.fromEntries([...new FormData(form)].filter(([, value]) => value !== ''));
const underWay = new Set();
/**
 * Until what a form or button is for is over it does not begin again. A link that is sent twice would be used by the time of the
 * second, and of two answers with recovery codes the slower one would show those that do not work.
 */
async function once(element, work, form) {
  if (underWay.has(element)) return;
  underWay.add(element);
  try {
    await run(work, form);
  } finally {
    underWay.delete(element);
  }
}
function onSubmit(id, work) {
  const form = find('#' + id);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void once(form, () => work(given(form), form), form);
  });
}
const onPress = (button, work) => button.addEventListener('click', () => void once(button, work));
const onClick = (id, work) => onPress(find('#' + id), work);

let isProven = false;
/** Asks who is there. Resolves to false where the dialog is closed without an answer. */
function askProof() {
  isProven = false;
  find('#proof').showModal();
  find('#prove-password').focus();
  return new Promise((resolve) => {
    find('#proof').addEventListener('close', () => resolve(isProven), { once: true });
  });
}
function closeProven() {
  isProven = true;
  find('#proof').close();
}
onSubmit('prove', async (form) => {
  await ask('POST', 'proof', form);
  closeProven();
});
onClick('prove-passkey', async () => {
  await askPasskey('proof/passkey');
  closeProven();
});
find('#prove-cancel').addEventListener('click', () => find('#proof').close());
find('#proof').addEventListener('close', () => {
  find('#prove').reset();
  find('#proof [role=status]').textContent = '';
});
`;
