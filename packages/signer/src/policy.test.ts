import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readPolicy } from './policy.ts';
import { unitsOf } from './policy-text.ts';
import { allNetworksText, policyText } from './test-policy.ts';

const USDT_ON_TRON = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const MAINNET = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
const OFF_CURVE = '6X4X1Ae24mkoWeCEpktevySVG9jzeCufut5vtUW3wFrD';
const TOKEN = '0x5FbDB2315678afecb367f032d93F642f64180aa3';

/** The line for a policy that differs from the sound one at this place; undefined takes it out. */
function mistakeAt(place: string, value: unknown): string {
  const policy = allNetworksText();
  const steps = place.split('.');
  const last = steps.pop() ?? '';
  const within = steps.reduce<object>((at, step) => Reflect.get(at, step), policy);
  Reflect.set(within, last, value);
  try {
    readPolicy(JSON.stringify(policy));
    return 'none';
  } catch (error) {
    return (error as Error).message;
  }
}

test('a sound policy is read, with its digest and its defaults', () => {
  const policy = readPolicy(JSON.stringify(policyText()));
  expect(policy.payouts).toMatchObject({ approveAbove: 0n, approvals: 1, perTransfer: 1_000_000_000n });
  expect(policy.refunds.unapprovedPerDay).toBe(policy.refunds.perDay);
  expect(policy.erc20.chainId).toBe(31_337n);
  expect(policy.digest).toMatch(/^[0-9a-f]{64}$/);
  expect([policy.trc20, policy.spl]).toEqual([null, null]);
  const all = readPolicy(JSON.stringify(allNetworksText()));
  expect(all.trc20).toMatchObject({ feeLimit: 100_000_000n, gasTopUp: 20_000_000n, accounts: null });
  expect(all.spl).toMatchObject({
    allowProgramOwned: false,
    charges: { perTransfer: 200_000_000n, perDay: 500_000_000n, resendPerDay: 100_000_000n },
  });
});

test('each mistake has one line that names its place', () => {
  const [net, tron, spl] = ['networks.erc20', 'networks.trc20', 'networks.spl'];
  const lines: [line: string, place: string, value?: unknown][] = [
    ['payouts.approvals needs 3 people and approvers names 2', 'payouts.approvals', 3],
    ['payouts.approvals needs 1 person and approvers names 0', 'approvers', []],
    ['refunds.per_transfer is above refunds.per_hour', 'refunds.per_transfer', '9999'],
    ['payouts.per_merchant_day is above payouts.per_day', 'payouts.per_merchant_day', '999999'],
    [`${net}.tokens names no token`, `${net}.tokens`, {}],
    [`${net}.tokens are one address`, `${net}.tokens`, { USDT: TOKEN, USDC: TOKEN }],
    [`${net}.tokens.USDT has a wrong checksum`, `${net}.tokens.USDT`, TOKEN.replace('Fb', 'fb')],
    [`${net}.batch_payout is the zero address`, `${net}.batch_payout`, `0x${'0'.repeat(40)}`],
    [`${net}.batch_payout is the address of a token`, `${net}.batch_payout`, TOKEN],
    [`${net}.collector is the zero address`, `${net}.collector`, `0x${'0'.repeat(40)}`],
    [`${net}.collector is the address of a token`, `${net}.collector`, TOKEN],
    [
      `${net}.collector is the address of batch_payout`,
      `${net}.collector`,
      policyText().networks.erc20.batch_payout,
    ],
    [`${net}.gas_per_transaction must be`, `${net}.gas_per_transaction`, 16_777_217],
    [`is above ${net}.max_fee_per_gas`, `${net}.max_fee_per_gas`, '1'],
    [`${net}.gas_top_up is above`, `${net}.gas_top_ups_per_day`, '1'],
    [`${net}.cold_owners.3 has a wrong checksum`, `${net}.cold_owners`, { 3: TOKEN.replace('F6', 'f6') }],
    [`${net}.cold_owners.3 is the zero address`, `${net}.cold_owners`, { 3: `0x${'0'.repeat(40)}` }],
    [`${net}.cold_owners.3 is a contract`, `${net}.cold_owners`, { 3: TOKEN }],
    [`${net}.cold_owners.0 is not known here`, `${net}.cold_owners`, { 0: TOKEN }],
    ['payouts.per_hour is missing', 'payouts.per_hour'],
    ['payouts.per_week is not known here: take it out', 'payouts.per_week', '1'],
    ['payouts.per_day must be an amount in quotes, such as "5000.00".', 'payouts.per_day', '1.0000001'],
    [`${net}.tokens.USDT must be an address: 0x and 40 hex digits in quotes.`, `${net}.tokens.USDT`, '0x12'],
    ['payouts.per_day must', 'payouts.per_day', '-1'],
    ['payouts.per_day must', 'payouts.per_day', 1],
    ['two approvers have the name ada', 'approvers.1.name', 'ada'],
    ['two approvers have the key', 'approvers.1', { ...policyText().approvers[0], name: 'bob' }],
    ['approvers.0 (ada) needs one of ed25519 and ethereum, or passkeys', 'approvers.0', { name: 'ada' }],
    ['approvers.0.ed25519 is no public key', 'approvers.0.ed25519', `0x01${'0'.repeat(62)}`],
    ['accounts names a merchant twice', 'accounts', { 1: MERCHANT, 2: MERCHANT }],
    [`${tron}.tokens.USDT must be an address of Tron`, `${tron}.tokens.USDT`, TOKEN],
    [`${tron}.tokens.USDT is no address of a token`, `${tron}.tokens.USDT`, USDT_ON_TRON.replace('6t', '6u')],
    [`${tron}.collector has a wrong checksum`, `${tron}.collector`, USDT_ON_TRON.replace('6t', '6u')],
    [`${tron}.collector is the address of a token`, `${tron}.collector`, USDT_ON_TRON],
    [`${tron}.fee_limit is above 15000000000`, `${tron}.fee_limit`, '15000000001'],
    [`${tron}.gas_top_up is above ${tron}.gas_top_ups_per_day`, `${tron}.gas_top_ups_per_day`, '1'],
    [`${tron}.genesis must be the id`, `${tron}.genesis`, '0x12'],
    [`${tron}.max_fee_per_gas is not known here`, `${tron}.max_fee_per_gas`, '1'],
    [`${tron}.accounts names a merchant twice`, `${tron}.accounts`, { 1: MERCHANT, 2: MERCHANT }],
    [`${spl}.tokens names no token`, `${spl}.tokens`, {}],
    [`${spl}.tokens.USDC is no address of a token`, `${spl}.tokens.USDC`, OFF_CURVE],
    [`${spl}.genesis has not 32 bytes`, `${spl}.genesis`, 'z'.repeat(44)],
    [`${spl}.compute_units must`, `${spl}.compute_units`, 1_400_001],
    [`${spl}.priority_fee must be lamports in digits`, `${spl}.priority_fee`, 1],
    [`${spl}.charges.per_transfer is above ${spl}.charges.per_day`, `${spl}.charges.per_transfer`, '501'],
    [`${spl}.node is on another machine and not https`, `${spl}.node`, 'http://10.0.0.9:8899'],
    [`${spl}.node must be the address of a node`, `${spl}.node`, 'ftp://a'],
    [`${spl}.charges: wallets are not charged for real money`, `${spl}.genesis`, MAINNET],
    [`${spl}.charges.per_day is missing`, `${spl}.charges`, { per_transfer: '1' }],
  ];
  for (const [line, place, value] of lines) {
    const said = mistakeAt(place, value);
    expect(said).toMatch(/^the policy: /);
    expect(said).toContain(line);
    expect(said.split('\n')).toHaveLength(1);
  }
  expect(() => readPolicy('{"florin_policy"')).toThrow('the policy: it is not JSON.');
});

const MERCHANT = '01890000-0000-7000-8000-000000000001';

test('where spl has no node of the signer, what fails there once can be signed again', () => {
  const read = (change: (policy: ReturnType<typeof allNetworksText>) => void) => {
    const text = allNetworksText();
    Reflect.deleteProperty(text.networks.spl, 'node');
    Object.assign(text.payouts, { resend_per_day: text.payouts.per_transfer });
    Object.assign(text.refunds, { resend_per_day: text.refunds.per_transfer });
    Reflect.deleteProperty(text.networks.spl, 'charges');
    change(text);
    return () => readPolicy(JSON.stringify(text));
  };
  expect(read(() => {})).not.toThrow();
  for (const [at, low] of [
    ['payouts', (text) => Object.assign(text.payouts, { resend_per_day: '999.999999' })],
    ['refunds', (text) => Reflect.deleteProperty(text.refunds, 'resend_per_day')],
  ] satisfies [string, (policy: ReturnType<typeof allNetworksText>) => void][]) {
    expect(read(low)).toThrow(`${at}.resend_per_day is below ${at}.per_transfer`);
    expect(
      read((text) => {
        low(text);
        Object.assign(text.networks.spl, { node: 'https://node.example' });
      }),
    ).not.toThrow();
  }
  // Nothing else shows that a charge has failed, and leaves its payer's window as it was.
  const charges = { per_transfer: '2', per_day: '2', resend_per_day: '2' };
  const charging = (own: object) =>
    read((text) => Object.assign(text.networks.spl, { charges: { ...charges, ...own } }));
  expect(charging({})).toThrow('networks.spl.charges needs networks.spl.node');
});

test('the day of charges of one merchant is within that of all', () => {
  const read = (own: object) => {
    const text = allNetworksText();
    Object.assign(text.networks.spl.charges ?? {}, own);
    return readPolicy(JSON.stringify(text)).spl?.charges?.perMerchantDay;
  };
  expect(read({})).toBe(500_000_000n);
  expect(read({ per_merchant_day: '200' })).toBe(200_000_000n);
  expect(() => read({ per_merchant_day: '500.01' })).toThrow('per_merchant_day is above');
  expect(() => read({ per_merchant_day: '199' })).toThrow('per_transfer is above networks.spl.charges.per_m');
});

test('money is read to the last unit', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 17n }), (units) => {
      const text = String(units).padStart(7, '0');
      expect(unitsOf(`${text.slice(0, -6)}.${text.slice(-6)}`)).toBe(units);
    }),
  );
  expect(unitsOf('0.1')).toBe(100_000n);
});
