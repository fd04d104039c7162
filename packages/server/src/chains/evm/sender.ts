import { delegateDeployment, sweeperDeployment } from '@florin/signer/contracts';
import type { Address } from 'viem';
import { mandateSetupOf } from '../collector/mandates.ts';
import {
  type Broadcast,
  type ChargeSpec,
  type ChargesPrecheck,
  type ChargesRequest,
  type CheckedMandate,
  type FeeEstimate,
  type FeeKind,
  type Head,
  type KeyRef,
  type Mandate,
  type MandateRequest,
  type MandateSetup,
  type MandateStatesAnswer,
  type Movement,
  type MovementSpec,
  type Precheck,
  type PrecheckRequest,
  type RotationFacts,
  type SignedMandate,
  type SignedTx,
  type SweepSpec,
  type TransferSpec,
  type TxStatus,
  UnbuildableTransfer,
} from '../port/port.ts';
import type { AskedPurpose } from '../signing/ask-signer.ts';
import { readTankLimits, tankLimitsOf } from '../signing/top-up-limits.ts';
import { transferPurpose } from '../signing/transfer-purpose.ts';
import { assertOwner, asUnbuildable, unlessAway } from './assert-owner.ts';
import { buildChargeCall } from './build-charge.ts';
import {
  buildMovementCall,
  deploymentOf,
  type MovementState,
  type MovementWallets,
  walletAt,
} from './build-movement.ts';
import { assertSweepable, buildSweepCall, type DepositState, maxSweeps } from './build-sweep.ts';
import { buildTransferCall, maxItems, toAddress, tokenOf, transferGas } from './build-transfer.ts';
import { findRefusal } from './collector-errors.ts';
import { gasUseOf } from './fee-kinds.ts';
import { type Fees, presentPrice, priceOf, replacementOf } from './fees.ts';
import { expectedGas, type GasUse, gasLimit } from './gas.ts';
import { siteOf } from './mandates.ts';
import type { EvmNetwork } from './network.ts';
import type { EvmNode } from './node.ts';
import { type NodeReads, readBytes, readFeeHistory, readQuantity, readsOf } from './node-answers.ts';
import { withPermit } from './permits.ts';
import { readAllowance, readNative, readTank, readToken } from './precheck.ts';
import { assertPermitted, checkMandate, precheckCharges, refusesUs } from './precheck-charges.ts';
import { readMandates } from './read-mandates.ts';
import { type ReadFinalTokens, readRotation } from './read-rotation.ts';
import { nonceOf, readReplaced } from './replaced.ts';
import { sendSigned } from './send.ts';
import { requestSignature, type SigningOrder, type TransactionSigner } from './signing.ts';
import { readStatus } from './status.ts';
import type { Call } from './transaction.ts';

export interface EvmSenderOptions {
  network: EvmNetwork;
  node: EvmNode;
  signer: TransactionSigner;
  /** Whose deposits are swept; the signer compares it. */
  merchantId: string;
  wallets: EvmWallets;
  /** As `Chain.head`; its `finalHeight` is the word of the operator's own node, or else of two endpoints. */
  head: () => Promise<Head>;
}

/** The wallets of one live merchant, EIP-55, from public keys alone. */
export interface EvmWallets {
  /** Account number, from 1. */
  account: number;
  hot: string;
  /** The hot wallets of the epochs before, in order; by default there are none. */
  rotated?: readonly string[];
  /** The address that owns the merchant's account at the collector, and alone may change it. */
  owner: string;
  /** Whether that is outside of the signer; by default it is not. */
  isOwnerCold?: boolean;
  /** Of account 0, shared by all merchants. */
  tank: string;
  deposit(index: number): Promise<string>;
}

/** The half of `Chain` that builds, signs, sends and watches transactions of one live merchant on an EVM network. */
export class EvmSender {
  readonly #options: EvmSenderOptions;
  readonly #reads: NodeReads;
  readonly #hot: Address;
  readonly #tank: Address;
  readonly #owner: Address;
  readonly #rotated: readonly Address[];

  constructor(options: EvmSenderOptions) {
    this.#options = options;
    this.#reads = readsOf(options.node);
    this.#hot = toAddress(options.wallets.hot);
    this.#tank = toAddress(options.wallets.tank);
    this.#owner = toAddress(options.wallets.owner);
    this.#rotated = (options.wallets.rotated ?? []).map(toAddress);
  }

  get maxItemsPerTx(): number {
    return maxItems(this.#options.network);
  }

  get sweepsPerTx(): number {
    return maxSweeps(this.#options.network);
  }

  async buildTransfer(spec: TransferSpec): Promise<SignedTx> {
    const call = buildTransferCall(this.#options.network, spec);
    if (spec.keyRef !== 'hot') {
      throw new UnbuildableTransfer(`the hot wallet alone pays on this network, not ${spec.keyRef}`);
    }
    const itemIds = spec.items.map(({ itemId }) => itemId);
    return await this.#sign(spec, { call, purpose: transferPurpose(spec), itemIds });
  }

  async buildSweep(spec: SweepSpec): Promise<SignedTx> {
    const { network, merchantId, wallets } = this.#options;
    const { items } = spec;
    assertSweepable(network, items);
    const delegate = await this.#findDelegate();
    const indexes = [...new Set(items.map(({ index }) => index))];
    const states = await Promise.all(indexes.map((index) => this.#readDeposit(index)));
    const whose = { merchant: merchantId, account: wallets.account, epoch: this.#rotated.length };
    const plan = { items, states, delegate, ...whose };
    const { call, purpose, delegating } = buildSweepCall(network, plan);
    return await this.#sign(
      { ...spec, keyRef: 'tank' },
      {
        call,
        purpose,
        itemIds: items.map(({ itemId }) => itemId),
        delegating: {
          to: delegate,
          swept: states.map(({ address }) => address),
          wanted: delegating.map(({ address }) => address),
        },
      },
    );
  }

  async buildCharge(spec: ChargeSpec): Promise<SignedTx> {
    if (spec.keyRef !== 'hot') {
      throw new UnbuildableTransfer(`the hot wallet alone charges on this network, not ${spec.keyRef}`);
    }
    await assertOwner(this.#options.signer, this.#options.wallets);
    const { call, purpose } = buildChargeCall(this.#options.network, this.#own, spec);
    return await this.#sign(spec, { call, purpose, itemIds: [spec.chargeId] });
  }

  async mandateSetup(request: MandateRequest): Promise<MandateSetup> {
    const { network, node, signer, wallets } = this.#options;
    await assertOwner(signer, wallets).catch(asUnbuildable);
    return await withPermit({ network, node }, mandateSetupOf(siteOf(network), this.#own, request), request);
  }

  async checkMandate(signed: SignedMandate): Promise<CheckedMandate> {
    return await checkMandate({ ...this.#options, wallets: this.#own }, signed);
  }

  async mandateStates(mandates: readonly Mandate[]): Promise<MandateStatesAnswer> {
    const { network, node, head } = this.#options;
    const { finalHeight: height } = await head();
    return { height, states: await readMandates({ node, network }, mandates, { block: height }) };
  }

  /** `SignedTx.itemIds` is empty: a movement pays nobody. */
  async buildMovement(spec: MovementSpec): Promise<SignedTx> {
    const { movement, keyRef } = spec;
    if (movement.kind === 'account' || movement.kind === 'activate')
      await assertOwner(this.#options.signer, this.#options.wallets);
    const state = await this.#readMovementState(spec);
    const known = { ...this.#options, wallets: this.#own, state };
    const { call, purpose } = buildMovementCall(known, keyRef, movement);
    await this.#assertTaken(movement, call);
    if (spec.replaces === undefined) await assertPermitted(known, movement);
    return await this.#sign({ ...spec, isFill: movement.kind === 'fill' }, { call, purpose, itemIds: [] });
  }

  /** The collector refuses a mandate that its payer has not signed, and what it has already. */
  async #assertTaken({ kind }: Movement, call: Call): Promise<void> {
    if (kind !== 'account' && kind !== 'activate') return;
    const sender = kind === 'account' ? this.#tank : this.#hot;
    const refusal = await findRefusal(this.#options.node, call, sender);
    if (refusal !== undefined) throw new UnbuildableTransfer(`the collector refuses it: ${refusal}`);
  }

  async broadcast(tx: SignedTx): Promise<Broadcast> {
    return await sendSigned(this.#options.node, this.#options.network, tx);
  }

  async status(tx: SignedTx): Promise<TxStatus> {
    const merchant = { ...this.#options, wallets: this.#own };
    const { head } = merchant;
    return await readStatus(
      { node: this.#reads, head, refusesUs: (token) => refusesUs(merchant, token) },
      tx,
    );
  }

  /** At the price of the next block, with recipients that are new to the token. */
  async estimateFee(kind: FeeKind, items: number): Promise<FeeEstimate> {
    const { network } = this.#options;
    const use = gasUseOf(network, kind, items);
    const limit = gasLimit(use, network.feeCeilings.gasPerTransaction);
    const price = presentPrice(await readFeeHistory(this.#reads), network.feeCeilings);
    return { native: expectedGas(use) * price, atLimit: limit * price, unit: 'wei' };
  }

  async precheck(request: PrecheckRequest): Promise<Precheck> {
    const { network, node, head } = this.#options;
    const { gasPerTransaction } = network.feeCeilings;
    const { maxFeePerGas } = priceOf(await readFeeHistory(this.#reads), network.feeCeilings);
    const costs = (use: GasUse) => gasLimit(use, gasPerTransaction) * maxFeePerGas;
    const isSweep = request.kind === 'sweeps';
    const fees = isSweep
      ? request.transactions.map((n) => costs({ kind: 'sweep', addresses: n, authorizations: n }))
      : request.transactions.map((items) =>
          costs(
            transferGas(
              network,
              items.map(({ place }) => place),
            ),
          ),
        );
    const contract = isSweep ? network.sweeper : network.batchPayout;
    const { finalHeight: from } = await head();
    const token = await readToken(node, network, {
      from,
      sender: this.#hot,
      asset: request.asset,
      items: isSweep ? [] : request.transactions.flat(),
      contract: contract === null ? null : toAddress(contract),
    });
    const tank = await readTank(this.#reads, this.#tank);
    const delegate = deploymentOf('sweep_delegate', this.#own);
    return {
      ...token,
      fees,
      native: isSweep ? tank.native : await this.nativeBalance(this.#hot),
      isDelegateMissing: isSweep && (await this.#codeAt(delegate.address)) === '0x',
      movementFees: {
        gas: costs({ kind: 'plain' }),
        approve: costs({ kind: 'approve' }),
        deploy: costs({ kind: 'deploy', bytes: delegate.data.length }),
      },
      tank: { ...tank, ...(await readTankLimits(this.#options.signer.limits())) },
      paidByTank: null,
    };
  }

  async precheckCharges(request: ChargesRequest): Promise<ChargesPrecheck> {
    const { signer, wallets } = this.#options;
    // Before anything takes a sequence. A signer that is away says nothing against it.
    await assertOwner(signer, wallets).catch(unlessAway);
    const checked = await precheckCharges({ ...this.#options, wallets: this.#own }, request);
    return {
      ...checked,
      tank: { ...checked.tank, ...(await readTankLimits(this.#options.signer.limits())) },
    };
  }

  async readRotation(readFinalTokens: ReadFinalTokens): Promise<Omit<RotationFacts, 'finalTime'>> {
    const { network, node, signer, head } = this.#options;
    const limits = await signer.limits();
    const facts = await readRotation({ network, node, head, wallets: this.#own }, readFinalTokens);
    // A signer that signs for no collector opens no account there. One that is open names wallets all the same: a rotation is not over
    // before it names the present one, also where charges were stopped by the policy meanwhile.
    const isUnused = limits?.collector === null && facts.collector?.isMissing === true;
    return {
      ...facts,
      collector: isUnused ? null : facts.collector,
      tank: { ...facts.tank, ...tankLimitsOf(limits) },
    };
  }

  async nativeBalance(address: string): Promise<bigint> {
    return await readNative(this.#reads, address);
  }

  async #sign(order: Order, { call, purpose, itemIds, delegating }: BuiltTransaction): Promise<SignedTx> {
    const { network, signer, wallets } = this.#options;
    const nonce = nonceOf(order.sequence);
    const fees = await this.#priceFor(order, nonce, call);
    const isTank = order.keyRef === 'tank';
    const wallet = isTank ? { address: this.#tank, epoch: 0 } : walletAt(this.#own, order.keyRef);
    const { address: sender, epoch } = wallet;
    const { raw, content } = await requestSignature(signer, {
      signing: order.signing,
      account: isTank ? 0 : wallets.account,
      epoch,
      sender,
      transaction: { ...call, ...fees, nonce, chainId: network.chainId },
      purpose,
      ...(delegating === undefined ? {} : { delegating }),
      isReplacement: order.replaces !== undefined,
      ceilings: network.feeCeilings,
    });
    return {
      network: 'erc20',
      txId: content.txId,
      raw,
      sender,
      itemIds: [...itemIds],
      sequence: String(nonce),
      feeLimit: content.gas * content.maxFeePerGas,
    };
  }

  async #priceFor({ replaces, isFill = false }: Order, nonce: number, call: Call): Promise<Fees> {
    const { feeCeilings } = this.#options.network;
    const history = await readFeeHistory(this.#reads);
    if (replaces === undefined) return priceOf(history, feeCeilings);
    const replaced = readReplaced(replaces, nonce, isFill ? undefined : call);
    return replacementOf(replaced, history, { ceilings: feeCeilings, isFill });
  }

  async #readMovementState({ movement }: MovementSpec): Promise<MovementState> {
    const { network, node, head } = this.#options;
    const state = { allowance: 0n, isDeployed: false };
    if (movement.kind === 'deploy') {
      const { address } = deploymentOf(movement.contract, this.#own);
      return { ...state, isDeployed: (await this.#codeAt(address)) !== '0x' };
    }
    if (movement.kind !== 'approve' || network.batchPayout === null) return state;
    const token = tokenOf(network, movement.asset);
    const { finalHeight: from } = await head();
    const pull = { token, owner: this.#hot, spender: toAddress(network.batchPayout), from };
    return { ...state, allowance: await readAllowance(node, pull) };
  }

  get #own(): MovementWallets {
    const { account, isOwnerCold = false } = this.#options.wallets;
    const rotated = this.#rotated;
    const first = rotated[0] ?? this.#hot;
    return { account, hot: this.#hot, rotated, first, owner: this.#owner, isOwnerCold, tank: this.#tank };
  }

  /** The merchant's `SweepDelegate`: both its home and its sweeper are in its code. */
  async #findDelegate(): Promise<Address> {
    const { network } = this.#options;
    const sweeper = sweeperDeployment(this.#tank).address;
    if (network.sweeper !== sweeper) {
      throw new UnbuildableTransfer(`the sweeper of this installation's gas tank is ${sweeper}`);
    }
    const { address } = delegateDeployment(this.#hot, sweeper);
    if ((await this.#codeAt(address)) === '0x') {
      throw new UnbuildableTransfer(`the merchant's sweep delegate ${address} has to be deployed first`);
    }
    return address;
  }

  async #readDeposit(index: number): Promise<DepositState> {
    const address = toAddress(await this.#options.wallets.deposit(index));
    const [code, nonce] = await Promise.all([
      this.#codeAt(address),
      this.#reads.call('eth_getTransactionCount', [address, 'latest']),
    ]);
    return { index, address, code, nonce: readQuantity(nonce, 'eth_getTransactionCount') };
  }

  async #codeAt(address: Address) {
    return readBytes(await this.#reads.call('eth_getCode', [address, 'latest']), 'eth_getCode');
  }
}

interface Order {
  signing: SigningOrder['signing'];
  keyRef: KeyRef;
  sequence?: string;
  replaces?: SignedTx;
  /** A fill may offer the whole ceilings. */
  isFill?: boolean;
}

interface BuiltTransaction {
  call: Call;
  purpose: AskedPurpose;
  itemIds: readonly string[];
  delegating?: NonNullable<SigningOrder['delegating']>;
}
