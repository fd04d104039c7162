import { errorName } from '../collector/errors.ts';
import { mandateSetupOf } from '../collector/mandates.ts';
import {
  type Broadcast,
  type ChargeSpec,
  type ChargesPrecheck,
  type ChargesRequest,
  type CheckedMandate,
  type FeeEstimate,
  type FeeKind,
  type Mandate,
  type MandateRequest,
  type MandateSetup,
  type MandateStatesAnswer,
  type Movement,
  type MovementSpec,
  type Precheck,
  type PrecheckRequest,
  type SignedMandate,
  type SignedTx,
  type TransferSpec,
  type TxStatus,
  UnbuildableTransfer,
} from '../port/port.ts';
import { ChainUnavailable, SignerUnavailable } from '../port/port-errors.ts';
import { buildAccount, buildActivation, buildCharge } from './build-charge.ts';
import { buildLoan, buildPayment, buildTopUp, type Draft } from './build-payment.ts';
import { constantCall, readConstantResult } from './contract-call.ts';
import { tryCall } from './estimates.ts';
import type { TronFeed } from './feed.ts';
import {
  COLLECTOR_BANDWIDTH,
  COLLECTOR_ENERGY,
  feeLimitOf,
  HOLDER_ENERGY,
  LENDING_BANDWIDTH,
  MOVEMENT_SUN,
  PriceList,
  TRANSFER_BANDWIDTH,
  TRANSFER_ENERGY,
} from './fees.ts';
import { collectorOf, holderOf, siteOf } from './mandates.ts';
import type { TronNetwork } from './network.ts';
import { ofView, type TronNode } from './node.ts';
import { orUnavailable, unusable } from './node-answers.ts';
import { precheck } from './precheck.ts';
import { checkMandate, precheckCharges, refusesUs } from './precheck-charges.ts';
import { readMandates } from './read-mandates.ts';
import type { TronWallets } from './reader.ts';
import { referenceOf } from './reference.ts';
import { readTrx } from './resources.ts';
import { sendSigned } from './send.ts';
import { requestSignature, type TronSigner } from './signing.ts';
import { readStatus } from './status.ts';
import { TransferTrials } from './transfer-trials.ts';

export interface SenderOptions {
  network: TronNetwork;
  node: TronNode;
  feed: TronFeed;
  signer: TronSigner;
  wallets: TronWallets;
  merchantId: string;
  /** Account number of the merchant, from 1. */
  account: number;
  /** Unix milliseconds. */
  nowMs: () => number;
}

/** Whose hot wallet gives the others TRX. */
const INSTALLATION = 0;
/** From the newest block on: what has not been in a block until then never is. */
const VALID_MS = 60_000n;
const SECOND_MS = 1_000n;
/** As old as this the newest block may be: a third of the time that what refers to it would have. */
const STALE_MS = 20_000n;

/** The part of `Chain` that builds, sends and watches, for one live merchant. */
export class TronSender {
  readonly #options: SenderOptions;
  readonly #prices: PriceList;
  readonly #trials = new TransferTrials();

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#prices = new PriceList(options.node);
  }

  async buildTransfer(spec: TransferSpec): Promise<SignedTx> {
    const draft = buildPayment(this.#options, spec);
    const itemIds = spec.items.map(({ itemId }) => itemId);
    const { bandwidth } = await this.#prices.read();
    return await this.#sign(draft, { ...spec, itemIds, fee: TRANSFER_BANDWIDTH * bandwidth });
  }

  async buildCharge(spec: ChargeSpec): Promise<SignedTx> {
    const draft = buildCharge(this.#options, spec);
    return await this.#sign(draft, { ...spec, itemIds: [spec.chargeId], fee: await this.#callFee() });
  }

  async buildMovement({ signing, movement }: MovementSpec): Promise<SignedTx> {
    const itemIds = [signing.attemptId];
    if (movement.kind === 'gas') {
      const draft = buildTopUp(this.#options, movement);
      return await this.#sign(draft, { signing, itemIds, fee: MOVEMENT_SUN });
    }
    if (movement.kind === 'lend' || movement.kind === 'unlend') {
      const { bandwidth } = await this.#prices.read();
      const draft = buildLoan(this.#options, movement);
      return await this.#sign(draft, { signing, itemIds, fee: LENDING_BANDWIDTH * bandwidth });
    }
    const draft = this.#callDraft(movement);
    await assertTaken(this.#options.node, draft);
    return await this.#sign(draft, { signing, itemIds, fee: await this.#callFee() });
  }

  #callDraft(movement: Movement): Draft {
    if (movement.kind === 'account') return buildAccount(this.#options);
    if (movement.kind === 'activate') return buildActivation(this.#options, movement);
    throw new UnbuildableTransfer(`nothing on this network is to ${movement.kind}`);
  }

  /** What a call of the collector can cost beside its energy. */
  async #callFee(): Promise<bigint> {
    const { bandwidth } = await this.#prices.read();
    return COLLECTOR_BANDWIDTH * bandwidth;
  }

  async mandateSetup(request: MandateRequest): Promise<MandateSetup> {
    const { network, wallets, signer } = this.#options;
    const setup = mandateSetupOf(siteOf(network), holderOf(wallets), request);
    // Nobody signs charges of another collector: a mandate would be given in vain. A signer that is away says nothing against it.
    const limits = await signer.tronLimits().catch(unlessAway);
    if (limits !== undefined && limits.collector !== network.collector)
      throw new UnbuildableTransfer(`the signer signs no charges of ${network.collector}`);
    return setup;
  }

  async checkMandate(signed: SignedMandate): Promise<CheckedMandate> {
    return await checkMandate(this.#options, signed);
  }

  async mandateStates(mandates: readonly Mandate[]): Promise<MandateStatesAnswer> {
    const { height } = (await this.#options.feed.snapshot()).final;
    return { height, states: await readMandates(this.#options, mandates, { view: 'solid', height }) };
  }

  async precheckCharges(request: ChargesRequest): Promise<ChargesPrecheck> {
    return await precheckCharges({ ...this.#options, prices: this.#prices }, request);
  }

  async precheck(request: PrecheckRequest): Promise<Precheck> {
    return await precheck({ ...this.#options, prices: this.#prices, trials: this.#trials }, request);
  }

  async broadcast(tx: SignedTx): Promise<Broadcast> {
    return await sendSigned(this.#options.node, tx);
  }

  async status(tx: SignedTx): Promise<TxStatus> {
    const options = this.#options;
    return await readStatus({ ...options, refusesUs: (token) => refusesUs(options, token) }, tx);
  }

  /** At the present prices; a transfer to recipients that never held the token, without energy of our own. */
  async estimateFee(kind: FeeKind, items: number): Promise<FeeEstimate> {
    const { energy, bandwidth } = await this.#prices.read();
    if (kind === 'charge' || kind === 'activate' || kind === 'account') {
      collectorOf(this.#options.network);
      const one = COLLECTOR_ENERGY[kind] * energy + COLLECTOR_BANDWIDTH * bandwidth;
      return { native: BigInt(items) * one, unit: 'sun' };
    }
    if (kind !== 'transfer' && kind !== 'sweep' && kind !== 'gas')
      throw new UnbuildableTransfer(`nothing is sent here as ${kind}`);
    // A sweep needs TRX at its address first.
    const before = kind === 'transfer' ? 0n : MOVEMENT_SUN;
    const used = { transfer: TRANSFER_ENERGY, sweep: HOLDER_ENERGY, gas: 0n }[kind];
    const one = before + used * energy + (kind === 'gas' ? 0n : TRANSFER_BANDWIDTH * bandwidth);
    return { native: BigInt(items) * one, unit: 'sun' };
  }

  async nativeBalance(address: string): Promise<bigint> {
    return await readTrx(this.#options.node, address);
  }

  /** @param of `fee`: what it can cost beside the energy of a call, in sun */
  async #sign(
    draft: Draft,
    { signing, itemIds, fee }: Pick<TransferSpec, 'signing'> & { itemIds: string[]; fee: bigint },
  ): Promise<SignedTx> {
    const { signer, network, account, wallets } = this.#options;
    const { purpose, sender } = draft;
    const transaction = await this.#dated(draft, signing.ordinal);
    const of = sender === wallets.resource ? INSTALLATION : account;
    const signed = await requestSignature(signer, { signing, account: of, transaction, purpose, network });
    const { feeLimit, expiration } = signed.transaction;
    return {
      network: 'trc20',
      txId: signed.txId,
      raw: signed.raw,
      sender,
      itemIds,
      feeLimit: feeLimit + fee,
      validUntil: { timeMs: Number(expiration) },
    };
  }

  /**
   * Two equal payments are two transactions by the milliseconds of their
   * times, which come from the number of the attempt: times are of whole seconds otherwise.
   */
  async #dated({ contract, use, payment }: Draft, ordinal: bigint) {
    const { node, network, feed, nowMs } = this.#options;
    const snapshot = await feed.snapshot();
    const { headMs, second, ...reference } = referenceOf(snapshot);
    const ageMs = BigInt(nowMs()) - headMs;
    // A test network makes blocks as people ask for them.
    if (!network.isTest && ageMs > STALE_MS)
      throw new ChainUnavailable(
        'trc20',
        `the newest block is ${ageMs / SECOND_MS} s old: the node has stopped, the network stands still, or this machine's clock is ahead`,
      );
    return {
      ...reference,
      expiration: second + VALID_MS + ((ordinal / SECOND_MS) % SECOND_MS),
      timestamp: second + (ordinal % SECOND_MS),
      contract,
      feeLimit:
        contract.kind === 'trigger'
          ? await feeLimitOf(
              { node, network, prices: this.#prices, trials: this.#trials },
              { call: contract, use, payment, height: snapshot.final.height },
            )
          : 0n,
    };
  }
}

/** The collector refuses a mandate that its payer has not signed, and what it has already. @throws UnbuildableTransfer */
async function assertTaken(node: TronNode, { contract }: Draft): Promise<void> {
  if (contract.kind !== 'trigger') return;
  const data = Buffer.from(contract.data).toString('hex');
  const fields = constantCall(contract.owner, contract.contract, data);
  const answer = await tryCall(node, fields);
  const refusal = refusalIn(answer);
  if (refusal === undefined) return;
  // One endpoint alone ends no activation by its word.
  const agreed = await orUnavailable(node.agreed(ofView('solid', 'triggerconstantcontract'), [fields]));
  if (refusalIn(agreed) !== refusal)
    throw unusable(`endpoints differ in whether the collector refuses it as ${refusal}`);
  throw new UnbuildableTransfer(`the collector refuses it: ${refusal}`);
}

const refusalIn = (answer: unknown) => errorName(`0x${readConstantResult(answer).reverted ?? ''}`);

function unlessAway(error: unknown): undefined {
  if (!(error instanceof SignerUnavailable)) throw error;
}
