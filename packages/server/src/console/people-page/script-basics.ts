/** What all views share: calls, what is said, findings beside fields, and the proof that a change asks for. */
export const BASICS = `
const find = (selector) => document.querySelector(selector);
const show = (id, isShown) => { find('#' + id).hidden = !isShown; };
let me;
let again;

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
  throw Object.assign(new Error(given.error.message), { param: given.error.param, status: answer.status });
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
      again = () => run(work, form);
      find('#proof').showModal();
      find('#prove-password').focus();
      return;
    }
    const input = param === undefined ? undefined : form?.elements.namedItem(param);
    if (input) showBeside(input, message);
    else say(message, 'bad');
  }
}

const given = (form) =>
  Object.fromEntries([...new FormData(form)].filter(([, value]) => value !== ''));
/** While one is under way another is not begun: a link that is sent twice would be used by the time of the second. */
function onSubmit(id, work) {
  find('#' + id).addEventListener('submit', async (event) => {
    event.preventDefault();
    const form = event.target;
    if (form.ariaBusy === 'true') return;
    form.ariaBusy = 'true';
    await run(() => work(given(form), form), form);
    form.ariaBusy = 'false';
  });
}
const onClick = (id, work) => find('#' + id).addEventListener('click', () => void run(work));

async function goOn() {
  find('#proof').close();
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
find('#prove-cancel').addEventListener('click', () => find('#proof').close());
find('#proof').addEventListener('close', () => {
  find('#prove').reset();
  find('#proof [role=status]').textContent = '';
});
`;
