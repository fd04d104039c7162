import { Fail } from '../../platform/fail.ts';

const LINK_LENGTH_MAX = 500;
/** Two texts around one at sign, without what a mailto link gives a meaning to. */
const ADDRESS = /^[^\s@<>"',;:?#%&\\()[\]]+@[^\s@<>"',;:?#%&\\()[\]]+$/;
const COLOUR = /^#?([0-9a-f]{6}|[0-9a-f]{3})$/i;

const refuse = (message: string, param: string): never => {
  throw new Fail('invalid_request', { message, param });
};

/** A link as browsers write it. @throws Fail `invalid_request` */
export function readHttpsLink(text: string, param: string): string {
  const url = URL.parse(text.trim());
  if (url === null || url.protocol !== 'https:' || url.username !== '' || url.password !== '')
    return refuse(`${param} must be a link that begins with https://, without a user name.`, param);
  return url.href.length <= LINK_LENGTH_MAX
    ? url.href
    : refuse(`${param} is longer than ${LINK_LENGTH_MAX} characters.`, param);
}

/** Where payers reach the store: a mail address, or a link. @throws Fail `invalid_request` */
export function readSupport(text: string): string {
  const address = text.trim().replace(/^mailto:/i, '');
  if (
    address.length <= LINK_LENGTH_MAX &&
    ADDRESS.test(address) &&
    /\w\.\w/.test(address.split('@')[1] ?? '')
  )
    return `mailto:${address}`;
  if (/^https:/i.test(text.trim())) return readHttpsLink(text, 'support');
  return refuse(
    'support must be a mail address such as help@shop.example, or a link that begins with https://.',
    'support',
  );
}

/** `#rrggbb`; each page makes it darker or lighter until it can be read there. @throws Fail `invalid_request` */
export function readAccent(text: string): string {
  const [, digits] = COLOUR.exec(text.trim()) ?? [];
  if (digits === undefined) return refuse('accent must be a colour such as #0a58ca.', 'accent');
  const six = digits.length === 3 ? Array.from(digits, (digit) => digit + digit).join('') : digits;
  return `#${six.toLowerCase()}`;
}
