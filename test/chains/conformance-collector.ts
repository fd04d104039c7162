import type { Asset } from '@florin/contract/money';
import type {
  ChargeSpec,
  Mandate,
  MandateSetup,
  SignedTx,
  TxStatus,
} from '../../packages/server/src/chains/port/port.ts';
import type { ChainEnvironment } from './conformance-environment.ts';
import { uuidOf } from './conformance-groups.ts';
import { nextSigning } from './next-signing.ts';

export const ASSET: Asset = 'USDC';
export const CAP = 10_000_000n;
export const ALLOWANCE = 100_000_000n;
export const BALANCE = 50_000_000n;
export const AMOUNT = 4_000_000n;
export const DAY = 86_400;
export const WINDOW = 2_592_000;
const SUBSCRIPTION = uuidOf('subscription');

/** Makes wallets and charges differ between tests. */
let made = 0;
export const madeSoFar = () => made;

interface Payer {
  setup: MandateSetup;
  mandate: Mandate;
  wallet: { owner: string; asset: Asset };
}

export class Collector {
  readonly environment: ChainEnvironment;

  constructor(environment: ChainEnvironment) {
    this.environment = environment;
  }

  /** A new wallet with `BALANCE`, and the setup that it would have to sign. */
  async meet(request: Partial<Mandate> = {}): Promise<Payer> {
    made += 1;
    const { chain } = this.environment;
    const wallet = { owner: this.environment.signingPayer(made), asset: ASSET };
    await this.environment.hold(wallet, BALANCE);
    const startsAt = await this.environment.startsAt();
    const terms = { asset: ASSET, cap: CAP, period: 'month', startsAt, endsAt: null } as const;
    const asked = {
      ...terms,
      subscriptions: 2,
      payer: wallet.owner,
      salt: String(made),
      allowance: ALLOWANCE,
      ...request,
    };
    const setup = await chain.mandateSetup(asked);
    return { setup, mandate: setup.mandate, wallet };
  }

  /** A payer whose signed mandate is in final blocks. */
  async join(request?: Partial<Mandate>): Promise<Payer> {
    const payer = await this.meet(request);
    await this.environment.authorize(payer.setup);
    await this.finalize();
    return payer;
  }

  finalize(): Promise<void> {
    return this.environment.mine(this.environment.finalBlocks);
  }

  async build({ mandate }: Pick<Payer, 'mandate'>, charge: Partial<ChargeSpec> = {}): Promise<SignedTx> {
    const { chain, keyRef } = this.environment;
    made += 1;
    const sequence = await chain.nextSequence(await chain.sender(keyRef));
    const window = { windowStart: mandate.startsAt, windowEnd: mandate.startsAt + WINDOW };
    const chargeId = uuidOf(`charge-${made}`);
    const own = { chargeId, amount: AMOUNT, subscriptionId: SUBSCRIPTION, ...window };
    const signature = this.environment.signatureOf?.(mandate);
    return chain.buildCharge({
      ...(signature === undefined ? {} : { signature }),
      signing: nextSigning(),
      keyRef,
      mandate,
      ...own,
      ...(sequence === null ? {} : { sequence }),
      ...charge,
    });
  }

  async send(payer: Payer, charge?: Partial<ChargeSpec>): Promise<SignedTx> {
    const tx = await this.build(payer, charge);
    const { result } = await this.environment.chain.broadcast(tx);
    if (result !== 'accepted') throw new Error(`broadcast answered ${result}`);
    return tx;
  }

  /** Sends and waits until nothing can change any more. */
  async settle(payer: Payer, charge?: Partial<ChargeSpec>): Promise<TxStatus> {
    const tx = await this.send(payer, charge);
    await this.finalize();
    return this.environment.chain.status(tx);
  }

  async stateOf({ mandate }: Payer) {
    const { states } = await this.environment.chain.mandateStates([mandate]);
    return states[0];
  }
}

export const refused = (reason: string) => ({ state: 'failed', final: true, itemOk: [false], reason });
export const taken = { state: 'final', final: true, itemOk: [true] };
