import fc from 'fast-check';
import { expect, test } from 'vitest';
import { START } from './built-console.ts';
import { documentOf, modulesOf } from './document.ts';

const html = `<meta nonce="NONCE">${START}</head>`;
const pages = new Map([
  ['payments', ['/console/assets/payments.js', '/console/assets/list.js']],
  ['payment', ['/console/assets/payment.js']],
]);
const built = { html, pages };

test('a document preloads the files of its page, and holds what the application begins with', () => {
  const path = '/console/mer_1/store_1/payments';
  expect(documentOf(built, { nonce: 'abc', path, start: { a: 1 } })).toBe(
    '<meta nonce="abc"><script type="application/json" id="start">{"a":1}</script>' +
      '<link rel="modulepreload" crossorigin href="/console/assets/payments.js">' +
      '<link rel="modulepreload" crossorigin href="/console/assets/list.js"></head>',
  );
  expect(documentOf(built, { nonce: 'abc', path: '/console', start: undefined })).toBe(
    '<meta nonce="abc"><script type="application/json" id="start"></script></head>',
  );
});

test.each([
  ['/console', ['', 'store/', 'sandbox/']],
  ['/console/operator/health', ['operator/health']],
  ['/console/mer_1/store_1/clock', ['clock', 'store/clock', 'sandbox/clock']],
  ['/console/mer_1/store_1/payments/pay_1', ['payment-pay_1', 'payment', 'payments']],
  ['/console/mer_1/store_1/payouts/import', ['payout-import', 'payout', 'payouts']],
])('%s is shown by one of %j', (path, modules) => {
  expect(modulesOf(path)).toEqual(modules);
});

test('no text of what it begins with ends its element, and all of it is read back', () => {
  const part = fc.constantFrom('</script>', '<!--', '<script>', '$&', "$'", '$`', 'NONCE', '</head>', START);
  fc.assert(
    fc.property(fc.array(fc.oneof(part, fc.string({ unit: 'binary' }))), (texts) => {
      const made = documentOf(built, { nonce: 'abc', path: '/console', start: texts });
      const [, held = ''] = /id="start">([^<]*)<\/script><\/head>$/.exec(made) ?? [];
      expect(JSON.parse(held)).toEqual(texts);
      expect(made.match(/</g)).toHaveLength(4);
    }),
  );
});
