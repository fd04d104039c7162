import {
  EMAIL_LENGTH_MAX,
  EMAIL_PATTERN,
  type MailKind,
  MERCHANT_MAIL_KINDS,
  PAYER_MAIL_KINDS,
} from '@florin/contract/schemas';
import { decodeId } from '../tenancy/index.ts';
import { listSetting } from '../tenancy/settings/index.ts';

const ADDRESSES_MAX = 20;
const SWITCHES_MAX = 500;
const ADDRESS_FORM = new RegExp(EMAIL_PATTERN, 'u');

/** Whoever invites somebody wants that mail. */
const SWITCHED = [...PAYER_MAIL_KINDS, ...MERCHANT_MAIL_KINDS];
const isKind = (text: string) => SWITCHED.some((kind) => kind === text);

/** `receipt`, `store_01…`, or `store_01…:receipt`. */
function isSwitch(text: string): boolean {
  const [store = '', ...kinds] = text.split(':');
  if (isKind(text)) return true;
  return decodeId('store', store) !== undefined && kinds.length <= 1 && kinds.every(isKind);
}

export const MAIL_SETTINGS = {
  notify: listSetting({
    name: 'mail.notify',
    description:
      'Addresses of the merchant that hear of failing endpoints, payouts that wait for approval, items that failed and stopped networks.',
    fallback: [],
    isAllowed: (text) => text.length <= EMAIL_LENGTH_MAX && ADDRESS_FORM.test(text),
    max: ADDRESSES_MAX,
    what: `at most ${ADDRESSES_MAX} addresses, such as ada@shop.example,ops@shop.example`,
  }),
  off: listSetting({
    name: 'mail.off',
    description: 'Mail that is not sent: kinds, stores, or kinds of one store (store_…:receipt).',
    fallback: [],
    isAllowed: isSwitch,
    max: SWITCHES_MAX,
    what: `at most ${SWITCHES_MAX} kinds (${SWITCHED.join(', ')}), stores (store_…) or kinds of a store (store_…:receipt)`,
  }),
};

/** Whether a kind of mail is switched off for a store, given by its public id. */
export const isOff = (off: readonly string[], store: string, kind: MailKind): boolean =>
  [kind, store, `${store}:${kind}`].some((one) => off.includes(one));
