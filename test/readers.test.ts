import { expect, test } from 'vitest';
import * as currencies from '../packages/contract/src/currencies.ts';
import * as money from '../packages/contract/src/money.ts';
import { PayoutBatchInput } from '../packages/contract/src/schemas/index.ts';
import * as signing from '../packages/contract/src/signing.ts';
import { verify } from '../packages/sdk/src/webhooks/verify.ts';
import * as erc20 from '../packages/server/src/chains/addresses/erc20.ts';
import * as spl from '../packages/server/src/chains/addresses/spl.ts';
import * as trc20 from '../packages/server/src/chains/addresses/trc20.ts';
import * as blockCursor from '../packages/server/src/chains/blocks/cursor.ts';
import { comparedText } from '../packages/server/src/chains/evm/compared.ts';
import { parseNetworks as parseNetworksFile } from '../packages/server/src/chains/evm/networks-file.ts';
import * as nodeAnswers from '../packages/server/src/chains/evm/node-answers.ts';
import { readSigned } from '../packages/server/src/chains/evm/transaction.ts';
import { JSON_RPC } from '../packages/server/src/chains/rpc/messages.ts';
import { readSealed } from '../packages/server/src/chains/simulated/envelope.ts';
import * as simulatedScan from '../packages/server/src/chains/simulated/scan.ts';
import { comparedText as solanaCompared } from '../packages/server/src/chains/solana/compared.ts';
import * as solanaCursor from '../packages/server/src/chains/solana/cursor.ts';
import * as solanaAnswers from '../packages/server/src/chains/solana/node-answers.ts';
import { readSigned as readSignedSolana } from '../packages/server/src/chains/solana/signing.ts';
import { textOf } from '../packages/server/src/chains/tron/contract-call.ts';
import * as tronAnswers from '../packages/server/src/chains/tron/node-answers.ts';
import { reducerOf, comparedText as tronCompared } from '../packages/server/src/chains/tron/reduced.ts';
import { readSigned as readSignedTron } from '../packages/server/src/chains/tron/signing.ts';
import { TRON_HTTP } from '../packages/server/src/chains/tron/wire.ts';
import { readAmount } from '../packages/server/src/checkout/links/read-amount.ts';
import { languageOf } from '../packages/server/src/checkout/page/language.ts';
import { parsePageToken } from '../packages/server/src/checkout/page-token.ts';
import { checkExternalId } from '../packages/server/src/customers/ensure-customer.ts';
import { decodeUuid } from '../packages/server/src/platform/db/ids/ids.ts';
import { prefersCsv } from '../packages/server/src/platform/http/export.ts';
import { formOf } from '../packages/server/src/platform/http/pages/form.ts';
import { checkPlainText } from '../packages/server/src/platform/http/plain-text.ts';
import { readQuery } from '../packages/server/src/platform/http/query.ts';
import { decodable } from '../packages/server/src/platform/http/raw-request.ts';
import { readRequestId } from '../packages/server/src/platform/http/request-id.ts';
import { compileShape } from '../packages/server/src/platform/http/validate.ts';
import { parseNetworks } from '../packages/server/src/platform/outbound/addresses.ts';
import { checkCallbackUrl } from '../packages/server/src/platform/outbound/callback-url.ts';
import { isReadableUrl } from '../packages/server/src/platform/outbound/read-url.ts';
import { isLocalName } from '../packages/server/src/platform/outbound/resolve.ts';
import { shorten } from '../packages/server/src/platform/secrets/shorten.ts';
import { parseRate } from '../packages/server/src/rates/rate.ts';
import { parseClaimToken } from '../packages/server/src/refunds/claim-link.ts';
import { checkName } from '../packages/server/src/stores/create-merchant.ts';
import { parseApiKey } from '../packages/server/src/stores/keys/credentials.ts';
import { parseSubscribeToken } from '../packages/server/src/subscriptions/page-token.ts';
import { decodeId } from '../packages/server/src/tenancy/resource-ids.ts';
import { normalUrl } from '../packages/server/src/webhooks/check-endpoint.ts';
import { readAddress } from '../packages/signer/src/address.ts';
import { fromHex } from '../packages/signer/src/bytes.ts';
import { decodeCall } from '../packages/signer/src/calldata.ts';
import { readPolicy } from '../packages/signer/src/policy.ts';
import { decodeRlp } from '../packages/signer/src/rlp.ts';
import { readSignRequest, readSubject } from '../packages/signer/src/schemas.ts';
import { decodeTransaction } from '../packages/signer/src/transaction.ts';
import { readWords } from '../packages/signer/src/words.ts';
import { again, expectLinear, LAST, MANY_VALUES } from './linear.ts';

// Everything that reads what payers, merchants, nodes and the signer's callers write is fed a mebibyte of what is worst for
// readers: the time may grow with the text and no faster. Logs and bodies have tests of their own: redact.test.ts, json.test.ts.

const bytes = (text: string) => Buffer.from(text, 'latin1');
const json = (text: string): unknown => JSON.parse(text);
const headers = (name: string, text: string) => ({ url: '/', headers: { [name]: text } });
const checkBatch = compileShape(PayoutBatchInput);
const item = (change: object) => ({
  currency: 'USDT',
  items: [{ network: 'erc20', address: 'x', amount: '1', ...change }],
});

const READERS: Record<string, (text: string) => unknown> = {
  parseAmount: money.parseAmount,
  parseNonNegativeAmount: money.parseNonNegativeAmount,
  parseTokens: money.parseTokens,
  parsePrice: (text) => currencies.parsePrice(text, 'USD'),
  'the locale of a price': (text) => currencies.formatPrice(1n, 'USD', text),
  isCurrency: currencies.isCurrency,
  isTimestamp: signing.isTimestamp,
  isNonce: signing.isNonce,
  isSignature: signing.isSignature,
  'an amount of a body': (text) => checkBatch(item({ amount: text })),
  'an address of a body': (text) => checkBatch(item({ address: text })),
  'a field of a body': (text) => checkBatch({ ...item({}), [text]: 1 }),
  'a field of an item': (text) => checkBatch(item({ [text]: 1 })),
  checkErc20Address: erc20.checkErc20Address,
  checkTrc20Address: trc20.checkTrc20Address,
  parseTrc20Address: trc20.parseTrc20Address,
  checkSplAddress: (text) => spl.checkSplAddress(text),
  parseSplAddress: spl.parseSplAddress,
  'the cursor of networks that are read block by block': blockCursor.readCursor,
  'the cursor of a simulated chain': simulatedScan.readCursor,
  readSealed,
  readSigned,
  'a cursor on Solana': solanaCursor.readCursor,
  'signed bytes of Solana': readSignedSolana,
  'an answer of a Solana node': (text) =>
    solanaCompared('getTransaction', { slot: 1, transaction: text, meta: { err: text } }),
  'digits of a Solana node': (text) => solanaAnswers.readDigits(text, 'x'),
  'bytes of a Solana node': (text) => solanaAnswers.readBase64([text, 'base64'], 'x'),
  'signed bytes of Tron': (text) => readSignedTron(text),
  'an answer of a Tron node': (text) => TRON_HTTP.read(text, 1),
  'what two Tron nodes are compared by': (text) =>
    tronCompared(
      `wallet/${text}`,
      reducerOf(new Map())('wallet/gettransactioninfobyid', { id: text, log: [text, { topics: [text] }] }),
    ),
  'bytes of a Tron node': (text) => tronAnswers.readHex(text, 'x'),
  'a message of a Tron node': (text) => textOf(text),
  'a quantity of a node': (text) => nodeAnswers.readQuantity(text, 'it'),
  'bytes of a node': (text) => nodeAnswers.readBytes(text, 'it'),
  'an address of a node': (text) => nodeAnswers.readAddress(text, 'it'),
  'answers of a node': (text) => JSON_RPC.read(text, 2),
  'a result of a node': (text) => JSON_RPC.read(JSON.stringify({ jsonrpc: '2.0', id: 0, result: text }), 1),
  'a refusal of a node': (text) =>
    JSON_RPC.read(JSON.stringify({ jsonrpc: '2.0', id: 0, error: { code: 1, message: text } }), 1),
  comparedText: (text) => comparedText('eth_getLogs', text),
  'networks of a file': (text) => parseNetworksFile(text),
  'networks of an allow list': parseNetworks,
  readAmount: (text) => readAmount(text, 'USD'),
  'the language of a query': (text) => languageOf({ url: `/?lang=${text}`, headers: {} }),
  'the language of a header': (text) => languageOf(headers('accept-language', text)),
  'a form of a page': (text) =>
    formOf({ headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: bytes(text) }),
  parsePageToken,
  parseSubscribeToken,
  parseClaimToken,
  parseApiKey,
  decodeId: (text) => decodeId('merchant', text),
  'the digits of an id': (text) => decodeId('merchant', `mer_${text}`),
  decodeUuid,
  checkExternalId: (text) => checkExternalId(text, 'customer'),
  checkName: (text) => checkName(text, 'name'),
  prefersCsv,
  checkPlainText: (text) => checkPlainText(text, 'it'),
  'the name of a query': (text) => readQuery(`/?${text}=1`, undefined),
  'the value of a query': (text) => readQuery(`/?a=${text}`, undefined),
  'a whole query': (text) => readQuery(`/?${text}`, undefined),
  decodable,
  readRequestId,
  checkCallbackUrl,
  'the host of a callback': (text) => checkCallbackUrl(`https://${text}`),
  'the path of a callback': (text) => checkCallbackUrl(`https://shop.example/${text}`),
  normalUrl: (text) => normalUrl(`https://shop.example/${text}`),
  isReadableUrl,
  isLocalName,
  shorten: (text) => shorten(text),
  parseRate,
  'an address of the signer': readAddress,
  'hex of the signer': (text) => fromHex(text),
  decodeRlp: (text) => decodeRlp(bytes(text)),
  'a list of RLP': (text) =>
    decodeRlp(
      bytes(
        `\xfa${String.fromCharCode(text.length >> 16, (text.length >> 8) & 255, text.length & 255)}${text}`,
      ),
    ),
  decodeCall: (text) => decodeCall(bytes(text)),
  'a batch of payments': (text) => decodeCall(bytes(`\x1b\xa3\xd0\x1e${text}`)),
  decodeTransaction: (text) => decodeTransaction(bytes(`\x02${text}`)),
  readSubject,
  'a request to sign': (text) => readSignRequest({ raw: text, [text]: text }),
  'JSON to sign': (text) => readSignRequest(json(text)),
  readPolicy,
  readWords,
  'the signature of a webhook': (text) =>
    verify(
      bytes('{}'),
      { 'x-service-signature': text, 'x-service-timestamp': text, 'x-service-nonce': text },
      'secret',
    ),
  'the body of a webhook': (text) => verify(bytes(text), {}, 'secret'),
};

/** What makes readers begin again at every character, count in squares, or nest. */
const WORST: Record<string, (length: number) => string> = {
  digits: again('9'),
  zeros: again('0'),
  'hex digits': (length) => `0x${again('a')(length - 2)}`,
  'base58 digits': again('2'),
  ones: again('1'),
  letters: again('a', '!'),
  'letters of a currency': again('USD'),
  'white space': again(' ', 'x'),
  lines: again('\n', 'x'),
  dots: again('.', '!'),
  'names with dots': again('a.'),
  'names with dashes': again('a-'),
  slashes: again('/'),
  schemes: again('x://'),
  users: again('x://u:', '@'),
  quotes: again('"'),
  backslashes: again('\\'),
  'percent signs': again('%25'),
  'broken percent signs': again('%'),
  pairs: again('a=1&'),
  'the same name': again('a&'),
  commas: again(','),
  colons: again(':'),
  semicolons: again('en;q=0.9,'),
  'open lists': again('['),
  'nested objects': again('{"a":'),
  'marks above': again('e\u0301'),
  'flags of countries': again('🇪🇸'),
  'zero-width joiners': again('\u200d'),
  'short lists of RLP': again('\xc0'),
  'nested lists of RLP': again('\xc1'),
  underscores: again('fl_test_'),
};

const attempt = (read: (text: string) => unknown) => (text: string) => {
  try {
    return read(text);
  } catch (error) {
    // A refusal. An overflow of the stack is none.
    if (error instanceof RangeError && error.message.includes('call stack')) throw error;
    return undefined;
  }
};

/** Five runs of what is too slow at a mebibyte, on a machine that others use. */
const LONG = { timeout: 120_000 };

test.for(Object.entries(READERS))(
  `%s takes time with the length of a text alone, up to ${LAST / 1024} KiB`,
  LONG,
  async ([, read]) => {
    for (const [what, worst] of Object.entries(WORST)) {
      await expectLinear(worst, attempt(read), MANY_VALUES).catch((error: unknown) => {
        throw new Error(`${what}: ${String(error)}`, { cause: error });
      });
    }
  },
);

test('a reader that looks at the rest of the text from every character is found', LONG, async () => {
  const square = (text: string) => {
    for (let at = 0; at < text.length; at++) if (text.indexOf('!', at) !== -1) return;
  };
  await expect(expectLinear(again('a'), square)).rejects.toThrow(/characters take/);
});
