/** Lists of what is one's own, and sessions in words. */
export const SESSIONS = String.raw`
let items = 0;
/** A line with what it is about below, and perhaps a button whose purpose is read together with the line. */
function listItem(line, below, button) {
  const item = document.createElement('li');
  const what = document.createElement('span');
  what.className = 'what';
  what.id = 'item-' + (items += 1);
  const small = document.createElement('small');
  small.append(...below);
  what.append(...line, small);
  item.append(what);
  if (button === undefined) return item;
  const pressed = document.createElement('button');
  pressed.type = 'button';
  pressed.textContent = button.name;
  pressed.setAttribute('aria-describedby', what.id);
  onPress(pressed, button.press);
  item.append(pressed);
  return item;
}

const BROWSERS = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Headless)?Chrom(?:e|ium)\/|\bCriOS\//, 'Chrome'],
  [/\bVersion\/.*\bSafari\//, 'Safari'],
];
const SYSTEMS = [
  [/\bAndroid\b/, 'Android'],
  [/\b(?:iPhone|iPod)\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];
/** As people would call it, such as "Chrome on Linux". Anybody can claim to be any browser: the whole claim is in the title. */
function deviceName(userAgent) {
  const nameIn = (names) => names.find(([pattern]) => pattern.test(userAgent))?.[1];
  const browser = nameIn(BROWSERS) ?? 'Another browser';
  const system = nameIn(SYSTEMS);
  return system === undefined ? browser : browser + ' on ' + system;
}

const TIMES = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
function timeOf(iso) {
  const time = document.createElement('time');
  time.dateTime = iso;
  time.title = iso;
  time.textContent = TIMES.format(new Date(iso));
  return time;
}

function showSessions(sessions) {
  find('#sessions').replaceChildren(...sessions.map((session) => {
    const device = document.createElement('span');
    device.textContent = deviceName(session.user_agent);
    device.title = session.user_agent;
    const tag = document.createElement('span');
    tag.className = 'tag';
    tag.textContent = 'this one';
    return listItem(
      session.is_this_one ? [device, tag] : [device],
      [session.remote_address + ', since ', timeOf(session.created_at)],
      session.is_this_one ? undefined : {
        name: 'End',
        press: async () => {
          await ask('DELETE', 'sessions/' + session.session_id);
          await showAccount('The session has ended.');
        },
      },
    );
  }));
}
`;
