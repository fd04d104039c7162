import { type Account, type Address, type Hex, keccak256, parseEventLogs, toHex, zeroHash } from 'viem';
import { Collector, type TestUSDC, TestUSDT } from '../../contracts/artifacts/index.ts';
import { MANDATE_TYPES } from '../../packages/server/src/chains/collector/abi.ts';
import { account, by, type Contract, freshAddress, LocalNode, OWNER } from './local-node.ts';

export { MANDATE_TYPES };

export const DAY = 86_400;
export const MONTH = 30 * DAY;
export const FUNDS = 10n ** 12n;
export const CAP = 10_000_000n;

/** As the contract's tuple. */
export interface Mandate {
  payer: Address;
  token: Address;
  account: Hex;
  cap: bigint;
  period: number;
  subscriptions: number;
  start: number;
  end: number;
  salt: Hex;
}

export const nameOf = (text: string): Hex => keccak256(toHex(text));

export const owner = account(3);
export const operator = account(1);
export const payer = account(2);
export const stranger = account(5);
export const home = freshAddress(1);

type Signer = ReturnType<typeof account>;

interface Domain {
  name: string;
  version: string;
  chainId: number;
  verifyingContract: Address;
}

/** A collector with an account, two tokens, and a payer who has approved all. */
export class CollectorWorld {
  readonly node: LocalNode;
  readonly collector: Contract<typeof Collector.abi>;
  readonly usdt: Contract<typeof TestUSDT.abi>;
  readonly usdc: Contract<typeof TestUSDC.abi>;
  readonly account: Hex;

  private constructor(
    node: LocalNode,
    made: Pick<CollectorWorld, 'collector' | 'usdt' | 'usdc' | 'account'>,
  ) {
    this.node = node;
    this.collector = made.collector;
    this.usdt = made.usdt;
    this.usdc = made.usdc;
    this.account = made.account;
  }

  static async start(): Promise<CollectorWorld> {
    const node = await LocalNode.start();
    const collector = await node.deploy(Collector);
    const [usdt, usdc] = [await node.deployUsdt(), await node.deployUsdc()];
    const parties = [owner.address, operator.address, home] as const;
    await node.mined(collector.write.open(parties, by(stranger)));
    for (const token of [usdt, node.at(TestUSDT, usdc.address)]) {
      await node.mined(token.write.mint([payer.address, FUNDS], by(OWNER)));
      await node.mined(token.write.approve([collector.address, FUNDS], by(payer)));
    }
    return new CollectorWorld(node, {
      collector,
      usdt,
      usdc,
      account: await collector.read.accountOf(parties),
    });
  }

  /** Both, by the functions that they share. */
  get tokens(): Contract<typeof TestUSDT.abi>[] {
    return [this.usdt, this.node.at(TestUSDT, this.usdc.address)];
  }

  /** The newest block's time. */
  async now(): Promise<number> {
    return Number((await this.node.client.getBlock()).timestamp);
  }

  async passTime(seconds: number): Promise<number> {
    await this.node.client.increaseTime({ seconds });
    await this.node.client.mine({ blocks: 1 });
    return await this.now();
  }

  mandate(changes: Partial<Mandate> = {}): Mandate {
    return {
      payer: payer.address,
      token: this.usdt.address,
      account: this.account,
      cap: CAP,
      period: 28 * DAY,
      subscriptions: 1,
      start: 0,
      end: 0,
      salt: zeroHash,
      ...changes,
    };
  }

  domain(): Domain {
    return {
      name: 'Florin Collector',
      version: '1',
      chainId: this.node.client.chain.id,
      verifyingContract: this.collector.address,
    };
  }

  async sign(message: Mandate, signer: Signer = payer, domain: Partial<Domain> = {}) {
    const types = MANDATE_TYPES;
    return await signer.signTypedData({
      domain: { ...this.domain(), ...domain },
      types,
      primaryType: 'Mandate',
      message,
    });
  }

  /** By a stranger: whoever brings it, the payer's signature counts. */
  async activate(mandate: Mandate, signature?: Hex) {
    const signed = signature ?? (await this.sign(mandate));
    return await this.node.mined(this.collector.write.activate([mandate, signed], by(stranger)));
  }

  chargeOf(windowStart: number, changes: Partial<ChargeArgs> = {}): ChargeArgs {
    const windowEnd = windowStart + MONTH;
    this.#charges += 1;
    const id = nameOf(`charge ${this.#charges}`);
    return { id, subscription: nameOf('one'), amount: 1n, windowStart, windowEnd, ...changes };
  }
  #charges = 0;

  /** With a limit of its own, so that what reverts is mined. */
  async charge(mandate: Mandate, charge: ChargeArgs, from: Account = operator) {
    return await this.node.mined(this.collector.write.charge([mandate, charge], by(from, 1_000_000n)));
  }

  /** Estimated alone: it throws with the contract's error. */
  estimateCharge(mandate: Mandate, charge: ChargeArgs, from: Account = operator) {
    return this.collector.estimateGas.charge([mandate, charge], by(from));
  }

  events(logs: Parameters<typeof parseEventLogs>[0]['logs']) {
    return parseEventLogs({ abi: Collector.abi, logs });
  }
}

export interface ChargeArgs {
  id: Hex;
  subscription: Hex;
  amount: bigint;
  windowStart: number;
  windowEnd: number;
}
