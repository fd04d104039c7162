import { EMAIL_LENGTH_MAX, EMAIL_PATTERN, MAIL_KINDS } from '@florin/contract/schemas';
import { Fail } from '../platform/fail.ts';
import { listSetting, type Setting } from '../tenancy/index.ts';

const ADDRESSES_MAX = 20;
const ADDRESS_FORM = new RegExp(EMAIL_PATTERN, 'u');
const isAddress = (text: string) => text.length <= EMAIL_LENGTH_MAX && ADDRESS_FORM.test(text);

/** Addresses, typed as `ada@shop.example,ops@shop.example`; an empty text is none. */
const notify: Setting<string[]> = {
  name: 'mail.notify',
  description:
    'Addresses of the merchant that hear of failing endpoints, payouts that wait for approval and items that failed.',
  fallback: () => [],
  read: (value) => {
    const addresses = Array.isArray(value) ? value.map(String) : String(value).split(',').filter(Boolean);
    if (addresses.length <= ADDRESSES_MAX && addresses.every(isAddress)) return [...new Set(addresses)];
    const message = `mail.notify must be at most ${ADDRESSES_MAX} addresses, such as ada@shop.example,ops@shop.example.`;
    throw new Fail('invalid_request', { message, param: 'mail.notify' });
  },
  write: (value) => value,
};

export const MAIL_SETTINGS = {
  notify,
  off: listSetting({
    name: 'mail.off',
    description: 'Kinds of mail that are not sent.',
    fallback: [],
    allowed: MAIL_KINDS,
  }),
};
