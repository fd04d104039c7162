import { withCorpus } from '../corpora.ts';

export interface MacCase {
  /** All three in hex; a tag may be the first part of the MAC only. */
  key: string;
  msg: string;
  tag: string;
  isValid: boolean;
}

interface WycheproofGroup {
  tests: { key: string; msg: string; tag: string; result: string }[];
}

const hex = (text: string) => Buffer.from(text).toString('hex');
const LONG_KEY = 'aa'.repeat(131);

/** The seven test cases of RFC 4231, and tags that differ from them in one place. */
const OWN_MACS: readonly [key: string, msg: string, tag: string, isValid: boolean][] = [
  [
    '0b'.repeat(20),
    hex('Hi There'),
    'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
    true,
  ],
  [
    hex('Jefe'),
    hex('what do ya want for nothing?'),
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    true,
  ],
  [
    'aa'.repeat(20),
    'dd'.repeat(50),
    '773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe',
    true,
  ],
  [
    '0102030405060708090a0b0c0d0e0f10111213141516171819',
    'cd'.repeat(50),
    '82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b',
    true,
  ],
  ['0c'.repeat(20), hex('Test With Truncation'), 'a3b6167473100ee06e0c796c2955552b', true],
  [
    LONG_KEY,
    hex('Test Using Larger Than Block-Size Key - Hash Key First'),
    '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
    true,
  ],
  [
    LONG_KEY,
    hex(
      'This is a test using a larger than block-size key and a larger than block-size data. ' +
        'The key needs to be hashed before being used by the HMAC algorithm.',
    ),
    '9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2',
    true,
  ],
  [
    '0b'.repeat(20),
    hex('Hi There'),
    'a0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
    false,
  ],
  [
    '0b'.repeat(20),
    hex('Hi There'),
    'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff6',
    false,
  ],
  [
    '0b'.repeat(20),
    hex('Hi there'),
    'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
    false,
  ],
  ['0c'.repeat(20), hex('Test With Truncation'), 'a3b6167473100ee06e0c796c2955552a', false],
];

export const macCases = (): readonly MacCase[] =>
  withCorpus<MacCase, { testGroups: WycheproofGroup[] }>(
    OWN_MACS.map(([key, msg, tag, isValid]) => ({ key, msg, tag, isValid })),
    'crypto/wycheproof_hmac_sha256_test.json',
    ({ testGroups }) =>
      testGroups.flatMap(({ tests }) =>
        tests.map(({ key, msg, tag, result }) => ({ key, msg, tag, isValid: result === 'valid' })),
      ),
  );

/** Names of the cases of Standard Webhooks: ours cover each of the public suite. */
export const webhookCaseNames = (own: readonly string[]): readonly string[] =>
  withCorpus<string, { cases: string[] }>(
    own,
    'webhook/standard-webhooks-vectors.json',
    ({ cases }) => cases,
  );
