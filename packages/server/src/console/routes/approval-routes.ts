import { Currency, Network, PayoutBatch, Refund } from '@florin/contract/schemas';
import { type Subject, statementOf } from '@florin/signer/statement';
import Type, { type Static } from 'typebox';
import {
  approvalEndsAt as batchEndsAt,
  decideApproval,
  listPaidAlike,
  listSignedBatches,
  listWaitingBatches,
  payoutStatement,
  payoutVotes,
  payoutWaits,
} from '../../payouts/approvals/index.ts';
import { presentBatch } from '../../payouts/index.ts';
import { NIL_ID } from '../../platform/db/ids/index.ts';
import { Fail } from '../../platform/fail.ts';
import { type Caller, defineRoute, type Route, type RouteRequest } from '../../platform/http/index.ts';
import {
  decideRefund,
  findByOwnId,
  listAwaitingApproval,
  listRefundedAlike,
  listSignedRefunds,
  refundAuthorities,
  approvalEndsAt as refundEndsAt,
} from '../../refunds/approvals/index.ts';
import { presentRefund, type RefundDeps, type RefundRow } from '../../refunds/index.ts';
import { approverOf } from '../../stores/approvers/index.ts';
import { getMerchant } from '../../stores/index.ts';
import { decodeId, merchantTime } from '../../tenancy/index.ts';
import { countedApprovals, type signedApprovals } from '../../transfers/approvals/index.ts';
import { lookOf, markRecipient } from '../../transfers/recipients/index.ts';
import { type ConsoleDeps, passkeys, users } from '../accounts/index.ts';
import { askForDecision, type Deciding, signedByPasskey, wayOf } from '../passkey-decisions.ts';
import { userOf } from './own.ts';
import { Assertion } from './passkey-routes.ts';

/** Payouts and refunds take the same. */
export type ApprovalDeps = ConsoleDeps & RefundDeps;
interface Place {
  deps: ApprovalDeps;
  publicUrl: () => string;
}

const PATH = '/console/api/merchants/{merchant_id}';
const SHOWN_MAX = 100;
const LATE_MAX = 20;
const common = { scope: 'read' as const, tag: 'Approvals' };
const Verdict = Type.Union([Type.Literal('approved'), Type.Literal('rejected')]);

type Request = Pick<RouteRequest<unknown, unknown, unknown>, 'caller'>;

async function decidingOf({ deps, publicUrl }: Place, request: Request): Promise<Deciding> {
  const { caller } = request;
  const user = await users.getUser(deps.db, userOf(request).userId);
  return { caller, user, publicUrl: publicUrl() };
}

/** Who decides, for a merchant that is not suspended. @throws Fail `forbidden`, `conflict` */
async function approverFor(deps: ApprovalDeps, { caller }: Request, { user }: Deciding): Promise<string> {
  const { merchantId } = caller;
  const { status } = await getMerchant(deps.db, merchantId);
  if (status !== 'active') throw new Fail('forbidden', 'This merchant is suspended.');
  const { user_id: userId, email } = user;
  return await approverOf(deps, caller, {
    userId,
    email,
    mayApprove: (tx) => users.mayApproveNow(tx, merchantId, userId),
  });
}

/** Where the money of a refund can be claimed is not what its approvers need. */
const presentWaiting = (refund: RefundRow) => presentRefund(refund, null);

/** The oldest first, which are those that end first. */
async function waitingFor(deps: ApprovalDeps, caller: Caller) {
  const { merchantId } = caller;
  const batches = await listWaitingBatches(deps.db, merchantId, SHOWN_MAX + 1);
  const refunds = await listAwaitingApproval(deps.db, merchantId, SHOWN_MAX + 1);
  return {
    now: merchantTime(deps, caller).seconds,
    payout_batches: batches
      .slice(0, SHOWN_MAX)
      .map((batch) => ({ ...presentBatch(batch), ends_at: batchEndsAt(batch) })),
    refunds: refunds
      .slice(0, SHOWN_MAX)
      .map((refund) => ({ ...presentWaiting(refund), ends_at: refundEndsAt(refund) })),
    has_more: Math.max(batches.length, refunds.length) > SHOWN_MAX,
    ...(await lateFor(deps, caller)),
  };
}

/** What is approved, and not paid before somebody who approved signs again: their signature counts no more. */
async function lateFor(deps: ApprovalDeps, caller: Caller) {
  const { merchantId } = caller;
  // What is held up is the oldest of what is under way.
  const batches = await listSignedBatches(deps.db, merchantId, LATE_MAX);
  const refunds = await listSignedRefunds(deps.db, merchantId, LATE_MAX);
  const isAny = batches.length + refunds.length > 0;
  const policy = isAny ? await countedApprovals.readPolicyForPage(deps.chains, caller) : undefined;
  const isLate = async (votes: Awaited<ReturnType<Decidable['votes']>>) =>
    (await signsAgain(deps, caller, votes, policy)).length > 0;
  const lateBatches: PayoutBatch[] = [];
  for (const batch of batches)
    if (await isLate(await payoutVotes(deps.db, merchantId, batch.batch_id)))
      lateBatches.push(presentBatch(batch));
  const lateRefunds: Refund[] = [];
  for (const refund of refunds)
    if (await isLate(await refundAuthorities.refundVotes(deps.db, merchantId, refund.refund_id)))
      lateRefunds.push(presentWaiting(refund));
  return { payout_batches_to_sign: lateBatches, refunds_to_sign: lateRefunds };
}

const ends = {
  ends_at: Type.Integer({ description: 'When it is rejected or canceled, unless it is approved.' }),
};
const Waiting = Type.Object({
  now: Type.Integer({ description: "The merchant's time, in Unix seconds." }),
  payout_batches: Type.Array(Type.Object({ ...PayoutBatch.properties, ...ends })),
  refunds: Type.Array(Type.Object({ ...Refund.properties, ...ends })),
  has_more: Type.Boolean({ description: 'More wait than the 100 oldest of each, which are shown.' }),
  payout_batches_to_sign: Type.Array(PayoutBatch, {
    description: 'Approved, and not paid before somebody signs again whose signature counts no more.',
  }),
  refunds_to_sign: Type.Array(Refund, { description: 'As with batches.' }),
});

const listRoute = ({ deps }: Place): Route =>
  defineRoute({
    ...common,
    method: 'GET',
    path: `${PATH}/approvals`,
    operationId: 'listApprovals',
    summary: 'Payout batches and refunds that wait for approval, the oldest first, or for a late signature',
    permission: { name: 'see' },
    params: Type.Object({ merchant_id: Type.String() }),
    answer: Waiting,
    refusals: [],
    handle: async ({ caller }) => ({ body: await waitingFor(deps, caller) }),
  });

/** What is decided on, and how. */
interface Decidable {
  /** What approvers sign of it. */
  subject: () => Promise<Subject>;
  /** Whether people decide on it now, rather than only sign it late. */
  waits: () => Promise<boolean>;
  /** What their votes are for. */
  votes: () => ReturnType<typeof payoutVotes | typeof refundAuthorities.refundVotes>;
  decide: (
    approverId: string,
    decision: Static<typeof Verdict>,
    by: { signed: signedApprovals.SignedBy } | { digest: string | undefined },
  ) => Promise<PayoutBatch | Refund>;
}

interface Kind {
  /** Of the path, and of the names of the operations. */
  path: string;
  noun: 'PayoutBatch' | 'Refund';
  words: string;
  answer: typeof PayoutBatch | typeof Refund;
  find: (deps: ApprovalDeps, caller: Caller, id: string) => Promise<Decidable>;
}

const PAYOUTS: Kind = {
  path: `${PATH}/payout-batches/{id}`,
  noun: 'PayoutBatch',
  words: 'a payout batch',
  answer: PayoutBatch,
  find: async (deps, caller, id) => {
    const batchId = decodeId('payoutBatch', id) ?? NIL_ID;
    return {
      subject: () => payoutStatement(deps.db, caller.merchantId, batchId),
      waits: () => payoutWaits(deps.db, caller.merchantId, batchId),
      votes: () => payoutVotes(deps.db, caller.merchantId, batchId),
      decide: (approverId, decision, by) =>
        decideApproval(deps, caller, { batchId, approverId, decision, ...by }),
    };
  },
};

const REFUNDS: Kind = {
  path: `${PATH}/refunds/{id}`,
  noun: 'Refund',
  words: 'a refund',
  answer: Refund,
  find: async (deps, caller, id) => {
    const { refundId } = await findByOwnId(deps.db, id, caller.merchantId);
    return {
      subject: () => refundAuthorities.refundStatement(deps.db, caller.merchantId, refundId),
      waits: () => refundAuthorities.refundWaits(deps.db, caller.merchantId, refundId),
      votes: () => refundAuthorities.refundVotes(deps.db, caller.merchantId, refundId),
      decide: async (approverId, verdict, by) => {
        const { refund } = await decideRefund(deps, caller, { refundId, approverId, verdict, ...by });
        return presentRefund(refund, null);
      },
    };
  },
};

const params = Type.Object({ merchant_id: Type.String(), id: Type.String() });

const decideRoute = (place: Place, { path, noun, words, answer, find }: Kind): Route =>
  defineRoute({
    ...common,
    method: 'POST',
    path: `${path}/decision`,
    operationId: `decide${noun}`,
    summary: `Approve ${words}, or reject it, which releases its money`,
    permission: { name: 'approve', isProofFresh: true },
    params,
    body: Type.Object({
      decision: Verdict,
      digest: Type.Optional(
        Type.String({
          description: 'As it was read: where something else is paid by now, nothing is decided.',
        }),
      ),
    }),
    answer,
    refusals: ['resource_not_found', 'conflict'],
    handle: async (request) => {
      const { decision, digest } = request.body;
      const decidable = await find(place.deps, request.caller, request.params.id);
      const approverId = await approverFor(place.deps, request, await decidingOf(place, request));
      return { body: await decidable.decide(approverId, decision, { digest }) };
    },
  });

const Content = Type.Object({
  network: Network,
  currency: Currency,
  count: Type.Integer(),
  total: Type.String({ description: 'Units of the token.' }),
  digest: Type.String({ description: 'Of network, token, recipient, amount, memo and place of each item.' }),
  recipients: Type.Array(
    Type.Object({
      address: Type.String(),
      amount: Type.String(),
      is_new: Type.Boolean({
        description:
          'The merchant has never paid this address with the approval of people, or its newest 1,000 payouts had none.',
      }),
      looks_like: Type.Union([Type.String(), Type.Null()], {
        description:
          'An address that was paid before, has the same four characters at both ends, and is another one.',
      }),
      is_alike_approved: Type.Boolean({
        description:
          'People approved a payment to that one. Where not, and this one is not new, that one imitates this one.',
      }),
    }),
  ),
  is_waiting: Type.Boolean({
    description:
      'Whether it waits for a decision. Where it does not, a missing signature is all that may be given.',
  }),
  way: Type.Union([Type.Literal('passkey'), Type.Literal('session'), Type.Literal('none')], {
    description:
      'How the person decides: a signature of their passkey, or the session alone, which is weaker. `none`: the signer ' +
      'does not answer, and it is only rejected.',
  }),
  hint: Type.Union([Type.String(), Type.Null()], {
    description: 'What keeps the person from deciding by passkey.',
  }),
  signs_again: Type.Array(Type.String(), {
    description: 'Who has approved, and whose signature counts no more: they sign again.',
  }),
});

/** Who has approved with a signature that counts no more. */
async function signsAgain(
  deps: ApprovalDeps,
  caller: Caller,
  votes: Awaited<ReturnType<Decidable['votes']>>,
  policy: countedApprovals.AskedPolicy,
): Promise<string[]> {
  const asked = { merchantId: caller.merchantId, ...votes };
  const nowSeconds = merchantTime(deps, caller).seconds;
  return await countedApprovals.listSigningAgain(deps.db, asked, { policy, nowSeconds });
}

/** Recipients, compared with whom the merchant has paid before. */
async function markedOf({ db }: ApprovalDeps, merchantId: string, { network, items }: Subject) {
  const looks = [...new Set(items.map(({ to }) => lookOf(to)))];
  const paid = [
    ...(await listPaidAlike(db, merchantId, network, looks)),
    ...(await listRefundedAlike(db, merchantId, network, looks)),
  ];
  return items.map(({ to: address, amount }) => {
    const { isNew, looksLike, isAlikeApproved } = markRecipient(address, paid);
    return { address, amount, is_new: isNew, looks_like: looksLike, is_alike_approved: isAlikeApproved };
  });
}

const contentRoute = (place: Place, { path, noun, words, find }: Kind): Route =>
  defineRoute({
    ...common,
    method: 'GET',
    path: `${path}/decision`,
    operationId: `show${noun}Decision`,
    summary: `What is signed of ${words}, and how the person may decide`,
    permission: { name: 'approve' },
    params,
    answer: Content,
    refusals: ['resource_not_found'],
    handle: async (request) => {
      const decidable = await find(place.deps, request.caller, request.params.id);
      const subject = await decidable.subject();
      const { network, asset } = subject;
      const policy = await countedApprovals.readPolicyForPage(place.deps.chains, request.caller);
      const { kind, hint } = await wayOf(place.deps, await decidingOf(place, request), policy);
      const { count, total, items: digest } = statementOf(subject, 0);
      const recipients = await markedOf(place.deps, request.caller.merchantId, subject);
      const again = await signsAgain(place.deps, request.caller, await decidable.votes(), policy);
      const how = { is_waiting: await decidable.waits(), way: kind, hint, signs_again: again };
      return { body: { network, currency: asset, count, total, digest, recipients, ...how } };
    },
  });

const optionsRoute = (place: Place, { path, noun, words, find }: Kind): Route =>
  defineRoute({
    ...common,
    method: 'GET',
    path: `${path}/decision/options`,
    operationId: `begin${noun}Decision`,
    summary: `What the browser asks a passkey by for a decision on ${words}`,
    permission: { name: 'approve' },
    params,
    query: Type.Object({ decision: Verdict }),
    answer: Type.Object({
      valid_until: Type.Integer({ description: 'Unix seconds; is sent back with the answer.' }),
      digest: Type.String(),
      statement: Type.String({ description: 'What every kind of approval signs.' }),
      options: Type.Unknown({ description: 'For `PublicKeyCredential.parseRequestOptionsFromJSON()`.' }),
    }),
    refusals: ['resource_not_found', 'conflict'],
    handle: async (request) => {
      const decidable = await find(place.deps, request.caller, request.params.id);
      const { decision } = request.query;
      const asked = { subject: await decidable.subject(), decision };
      return { body: await askForDecision(place.deps, await decidingOf(place, request), asked) };
    },
  });

const passkeyRoute = (place: Place, { path, noun, words, answer, find }: Kind): Route =>
  defineRoute({
    ...common,
    method: 'POST',
    path: `${path}/decision/passkey`,
    operationId: `decide${noun}ByPasskey`,
    summary: `Approve ${words}, or reject it, by the answer of a passkey, which is its own proof`,
    permission: { name: 'approve' },
    params,
    body: Type.Object({
      decision: Verdict,
      valid_until: Type.Integer({ minimum: 0 }),
      credential: Assertion,
    }),
    answer,
    refusals: ['resource_not_found', 'conflict'],
    handle: async (request) => {
      const { decision, valid_until: validUntil, credential } = request.body;
      const decidable = await find(place.deps, request.caller, request.params.id);
      const deciding = await decidingOf(place, request);
      const signed = await signedByPasskey(place.deps, deciding, { validUntil, credential });
      const approverId = await approverFor(place.deps, request, deciding);
      const body = await decidable.decide(approverId, decision, { signed });
      await passkeys.noteUse(place.deps, credential);
      return { body };
    },
  });

/** What waits for approval, and the decisions of people who are signed in. */
export const approvalRoutes = (place: Place): Route[] => [
  listRoute(place),
  ...[PAYOUTS, REFUNDS].flatMap((kind) => [
    contentRoute(place, kind),
    decideRoute(place, kind),
    optionsRoute(place, kind),
    passkeyRoute(place, kind),
  ]),
];
