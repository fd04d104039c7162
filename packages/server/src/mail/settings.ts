import { EMAIL_LENGTH_MAX, EMAIL_PATTERN, MAIL_KINDS } from '@florin/contract/schemas';
import { listSetting } from '../tenancy/settings/index.ts';

const ADDRESSES_MAX = 20;
const ADDRESS_FORM = new RegExp(EMAIL_PATTERN, 'u');

export const MAIL_SETTINGS = {
  notify: listSetting({
    name: 'mail.notify',
    description:
      'Addresses of the merchant that hear of failing endpoints, payouts that wait for approval and items that failed.',
    fallback: [],
    isAllowed: (text) => text.length <= EMAIL_LENGTH_MAX && ADDRESS_FORM.test(text),
    max: ADDRESSES_MAX,
    what: `at most ${ADDRESSES_MAX} addresses, such as ada@shop.example,ops@shop.example`,
  }),
  off: listSetting({
    name: 'mail.off',
    description: 'Kinds of mail that are not sent.',
    fallback: [],
    allowed: MAIL_KINDS,
  }),
};
