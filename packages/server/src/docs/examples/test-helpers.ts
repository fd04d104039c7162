import type { FundInput, SessionPayInput, SubscriptionAuthorizeInput } from '@florin/contract/schemas';
import type { Examples } from './example.ts';
import { FRESH, IDS } from './ids.ts';

const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7';

const SESSION = { call: 'createCheckoutSession' };
const SUBSCRIPTION = { call: 'createSubscription' };

export const TEST_HELPER_EXAMPLES: Examples = {
  fundSandbox: {
    sdk: 'testHelpers.fund',
    body: { currency: 'USDT', network: 'trc20', amount: 5_000_000 } satisfies FundInput,
    units: ['amount'],
  },
  retrieveTestAddresses: { sdk: 'testHelpers.addresses' },
  controlSimulatedChain: { sdk: 'testHelpers.controlChain', body: { mine: 1 } },
  listSimulatedTransfers: {
    sdk: 'testHelpers.transfers',
    given: [SESSION, { call: 'paySandboxSession' }],
  },
  retrieveClock: { sdk: 'testHelpers.now' },
  advanceClock: {
    sdk: 'testHelpers.advanceClock',
    code: 'console.log(await florin.testHelpers.advanceClock(60));',
    body: { seconds: 60 },
  },
  paySandboxSession: {
    sdk: 'testHelpers.checkout.sessions.pay',
    body: { currency: 'USDT', network: 'erc20' } satisfies SessionPayInput,
    given: [SESSION],
  },
  authorizeSandboxSubscription: {
    sdk: 'testHelpers.subscriptions.authorize',
    body: { currency: 'USDT', network: 'erc20' } satisfies SubscriptionAuthorizeInput,
    given: [SUBSCRIPTION],
    makes: { [IDS.method]: 'payment_method_id' },
  },
  claimSandboxRefund: {
    sdk: 'testHelpers.refunds.claim',
    code: `console.log(await florin.testHelpers.refunds.claim('${FRESH.refund}', '${ADDRESS}'));`,
    body: { address: ADDRESS },
    given: [SESSION, { call: 'paySandboxSession' }, { call: 'createRefund' }],
  },
  changeSandboxWallet: {
    sdk: 'testHelpers.paymentMethods.change',
    body: { balance: 500_000_000 },
    units: ['balance'],
    given: [SUBSCRIPTION, { call: 'authorizeSandboxSubscription' }],
  },
};
