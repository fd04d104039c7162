import {
  type Abi,
  type Address,
  type GetContractReturnType,
  getAddress,
  getContract,
  type Hex,
  pad,
  type TransactionReceipt,
  toHex,
} from 'viem';
import { TestUSDC, TestUSDT } from '../../contracts/artifacts/index.ts';
import { type Anvil, findAnvil, NO_ANVIL, startAnvil } from '../../scripts/anvil.ts';
import { connect, deploy, deployUsdc, type LocalClient, mined } from '../../scripts/local-chain.ts';

export { by, OWNER, testAccount as account } from '../../scripts/local-chain.ts';

/** `describe.skipIf(!hasAnvil())`: a machine without the node skips these tests and says why. */
export function hasAnvil(): boolean {
  const there = findAnvil() !== undefined;
  if (!there) console.log(`skipped: ${NO_ANVIL}`);
  return there;
}

/** An address that holds nothing, the same at every call. */
export function freshAddress(index: number): Address {
  return getAddress(pad(toHex(0x100000 + index), { size: 20 }));
}

/** Most gas that a transaction may have (EIP-7825). */
export const GAS_MAX = 16_777_216n;

export type Contract<abi extends Abi> = GetContractReturnType<abi, LocalClient, Address>;

/** A node of this test file's own, on which each transaction is a block. */
export class LocalNode {
  readonly client: LocalClient;
  readonly #anvil: Anvil;

  private constructor(anvil: Anvil) {
    this.#anvil = anvil;
    this.client = connect(anvil.url);
  }

  static async start(): Promise<LocalNode> {
    return new LocalNode(await startAnvil());
  }

  async stop(): Promise<void> {
    await this.#anvil.stop();
  }

  /** The receipt of a transaction that was sent, also of one that reverted. */
  async mined(sent: Promise<Hex>): Promise<TransactionReceipt> {
    return await mined(this.client, sent);
  }

  at<const abi extends Abi>({ abi }: { abi: abi }, address: Address): Contract<abi> {
    return getContract({ abi, address, client: this.client });
  }

  async deploy<const abi extends Abi>(
    artifact: { abi: abi; bytecode: Hex },
    args: readonly unknown[] = [],
  ): Promise<Contract<abi>> {
    return this.at(artifact, await deploy(this.client, artifact, args));
  }

  async deployUsdt() {
    return await this.deploy(TestUSDT);
  }

  async deployUsdc() {
    return this.at(TestUSDC, await deployUsdc(this.client));
  }
}
