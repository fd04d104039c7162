import {
  Balances,
  ChainControl,
  ChainHeight,
  CheckoutSessionPath,
  ClockAdvance,
  ClockAdvanced,
  ClockState,
  FundInput,
  NetworkPath,
  Payment,
  PaymentMethod,
  PaymentMethodChangeInput,
  PaymentMethodPath,
  Refund,
  RefundClaimInput,
  RefundPath,
  SessionPayInput,
  SimulatedTransferList,
  type SimulatedTransfer as SimulatedTransferObject,
  SimulatedTransferQuery,
  Subscription,
  SubscriptionAuthorizeInput,
  SubscriptionPath,
  TestAddresses,
} from '@florin/contract/schemas';
import { type SimulatedChain, type SimulatedTransfer, testAddresses } from '../chains/index.ts';
import { defineList, defineRoute, type Route } from '../platform/http/index.ts';
import { claimRefund, getRefund, showRefund } from '../refunds/index.ts';
import { advanceClock } from './advance-clock.ts';
import { authorizeMandate } from './authorize-mandate.ts';
import { changeWallet } from './change-wallet.ts';
import { fund, type SandboxDeps } from './fund.ts';
import { mineBlocks } from './mine-blocks.ts';
import { noteOutageEnd } from './outage-end.ts';
import { paySession } from './pay-session.ts';
import { reachChain } from './reach-chain.ts';

const PATH = '/api/v1/test_helpers';
const tag = 'Test helpers';

const presentTransfer = (transfer: SimulatedTransfer): SimulatedTransferObject => ({
  id: transfer.id,
  object: 'simulated_transfer',
  tx_id: transfer.txId,
  index: transfer.index,
  currency: transfer.currency,
  from: transfer.from,
  to: transfer.to,
  amount: Number(transfer.amount),
  height: Number(transfer.height),
  final: transfer.final,
});

/** Applies faults first, then the mining that they affect. */
async function control(
  deps: SandboxDeps,
  { merchantId, chain }: { merchantId: string; chain: SimulatedChain },
  order: ChainControl,
): Promise<void> {
  if (order.outage_seconds !== undefined) await chain.outage(order.outage_seconds);
  if (order.drop_next !== undefined) await chain.dropNext(order.drop_next);
  if (order.reorg !== undefined) await chain.reorg(order.reorg, { remine: order.remine ?? false });
  if (order.mine !== undefined)
    await mineBlocks(deps, merchantId, { network: chain.network, blocks: order.mine });
}

function moneyRoutes(deps: SandboxDeps): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: `${PATH}/fund`,
      operationId: 'fundSandbox',
      tag,
      summary: 'Add money to the balance and to the simulated chain',
      scope: 'write',
      sandboxOnly: true,
      body: FundInput,
      answer: Balances,
      refusals: [],
      handle: async ({ caller, body }) => ({ body: await fund(deps, caller, body) }),
    }),
    defineRoute({
      method: 'GET',
      path: `${PATH}/addresses`,
      operationId: 'retrieveTestAddresses',
      tag,
      summary: 'Addresses that make a payout succeed, fail, hang or be listed',
      scope: 'read',
      sandboxOnly: true,
      answer: TestAddresses,
      refusals: [],
      handle: async () => ({
        body: { erc20: testAddresses('erc20'), trc20: testAddresses('trc20'), spl: testAddresses('spl') },
      }),
    }),
  ];
}

function chainRoutes(deps: SandboxDeps): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: `${PATH}/chains/{network}`,
      operationId: 'controlSimulatedChain',
      tag,
      summary: 'Mine, reorganise or disturb a simulated chain',
      scope: 'write',
      sandboxOnly: true,
      params: NetworkPath,
      body: ChainControl,
      answer: ChainHeight,
      refusals: ['resource_not_found'],
      handle: async ({ caller, params, body }) => {
        const chain = deps.chains.sandbox(caller.merchantId, params.network);
        const { height, finalHeight } = await reachChain(async () => {
          await control(deps, { merchantId: caller.merchantId, chain }, body);
          return await chain.height();
        });
        if (body.outage_seconds !== undefined)
          await noteOutageEnd(deps, caller.merchantId, body.outage_seconds);
        return { body: { height: Number(height), final_height: Number(finalHeight) } };
      },
    }),
    defineList({
      path: `${PATH}/chains/{network}/transfers`,
      operationId: 'listSimulatedTransfers',
      tag,
      summary: 'What the simulated chain itself holds, newest first',
      sandboxOnly: true,
      params: NetworkPath,
      query: SimulatedTransferQuery,
      answer: SimulatedTransferList,
      refusals: ['resource_not_found'],
      read: async ({ caller, params, query: { address } }, { limit, after }) => {
        const chain = deps.chains.sandbox(caller.merchantId, params.network);
        const wanted = {
          limit,
          ...(address === undefined ? {} : { address }),
          ...(after === undefined ? {} : { after }),
        };
        const page = await reachChain(() => chain.transfers(wanted));
        return { data: page.data.map(presentTransfer), has_more: page.hasMore };
      },
    }),
  ];
}

function clockRoutes(deps: SandboxDeps): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: `${PATH}/clock`,
      operationId: 'retrieveClock',
      tag,
      summary: 'Read the clock of the sandbox merchant',
      scope: 'read',
      sandboxOnly: true,
      answer: ClockState,
      refusals: [],
      handle: async ({ caller }) => ({ body: { now: deps.clock.nowSeconds() + caller.clockOffset } }),
    }),
    defineRoute({
      method: 'POST',
      path: `${PATH}/clock/advance`,
      operationId: 'advanceClock',
      tag,
      summary: 'Move the clock of the sandbox merchant ahead',
      description:
        'Goes from due time to due time and answers when everything due on the way has happened, or after 20 s with done: false.',
      scope: 'write',
      sandboxOnly: true,
      body: ClockAdvance,
      answer: ClockAdvanced,
      refusals: [],
      handle: async ({ caller, body }) => ({
        body: await advanceClock(deps, caller.merchantId, body.seconds),
      }),
    }),
  ];
}

function checkoutHelperRoutes(deps: SandboxDeps): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: `${PATH}/checkout/sessions/{session_id}/pay`,
      operationId: 'paySandboxSession',
      tag,
      summary: 'Play the payer of a session',
      scope: 'write',
      sandboxOnly: true,
      params: CheckoutSessionPath,
      body: SessionPayInput,
      answer: Payment,
      refusals: ['resource_not_found'],
      handle: async ({ caller, params, body }) => ({
        body: await paySession(deps, caller, params.session_id, body),
      }),
    }),
    defineRoute({
      method: 'POST',
      path: `${PATH}/subscriptions/{subscription_id}/authorize`,
      operationId: 'authorizeSandboxSubscription',
      tag,
      summary: 'Play the payer who gives a mandate',
      description:
        'From a new wallet. The first invoice is charged if it is due; answers once that is final, or waits for something else.',
      scope: 'write',
      sandboxOnly: true,
      params: SubscriptionPath,
      body: SubscriptionAuthorizeInput,
      answer: Subscription,
      refusals: ['resource_not_found', 'service_unavailable'],
      handle: async ({ caller, params, body }) => ({
        body: await authorizeMandate(deps, caller, { id: params.subscription_id, body, mines: true }),
      }),
    }),
    defineRoute({
      method: 'POST',
      path: `${PATH}/refunds/{refund_id}/claim`,
      operationId: 'claimSandboxRefund',
      tag,
      summary: 'Play the payer who names the address of a refund',
      description: 'As behind its claim_url: once, and as long as that lasts.',
      scope: 'write',
      sandboxOnly: true,
      params: RefundPath,
      body: RefundClaimInput,
      answer: Refund,
      refusals: ['resource_not_found'],
      handle: async ({ caller, params, body }) => {
        const { refund_id: refundId } = await getRefund(deps.db, caller, params.refund_id);
        return { body: showRefund(deps, await claimRefund(deps, caller, refundId, body.address), '') };
      },
    }),
  ];
}

function walletRoutes(deps: SandboxDeps): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: `${PATH}/payment_methods/{payment_method_id}`,
      operationId: 'changeSandboxWallet',
      tag,
      summary: 'Play the payer who changes the wallet behind a payment method',
      description:
        'What the wallet holds and allows from now on is shared by all payment methods of that wallet and token. revoked takes the mandate back, for good.',
      scope: 'write',
      sandboxOnly: true,
      params: PaymentMethodPath,
      body: PaymentMethodChangeInput,
      answer: PaymentMethod,
      refusals: ['resource_not_found'],
      handle: async ({ caller, params, body }) => ({
        body: await changeWallet(deps, caller, params.payment_method_id, body),
      }),
    }),
  ];
}

export function sandboxRoutes(deps: SandboxDeps): Route[] {
  return [
    ...checkoutHelperRoutes(deps),
    ...walletRoutes(deps),
    ...moneyRoutes(deps),
    ...chainRoutes(deps),
    ...clockRoutes(deps),
  ];
}
