import {
  type Abi,
  type Account,
  type Address,
  createTestClient,
  encodeDeployData,
  type GetContractReturnType,
  getAddress,
  getContract,
  type Hex,
  http,
  pad,
  publicActions,
  type TransactionReceipt,
  toHex,
  walletActions,
} from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import { anvil } from 'viem/chains';
import { TestProxy, TestUSDC, TestUSDT } from '../../contracts/artifacts/index.ts';
import { type Anvil, findAnvil, NO_ANVIL, PUBLIC_TEST_MNEMONIC, startAnvil } from '../../scripts/anvil.ts';

/** `describe.skipIf(!hasAnvil())`: a machine without the node skips these tests and says why. */
export function hasAnvil(): boolean {
  const there = findAnvil() !== undefined;
  if (!there) console.log(`skipped: ${NO_ANVIL}`);
  return there;
}

/** One of anvil's ten accounts with 10,000 ether each; from 10 on they have none. */
export function account(index: number) {
  return mnemonicToAccount(PUBLIC_TEST_MNEMONIC, { addressIndex: index });
}

/** An address that holds nothing, the same at every call. */
export function freshAddress(index: number): Address {
  return getAddress(pad(toHex(0x100000 + index), { size: 20 }));
}

/** Most gas that a transaction may have (EIP-7825). */
export const GAS_MAX = 16_777_216n;

/** The owner of the test tokens: mints, pauses, blacklists. */
export const OWNER = account(0);

/** As a write's options: without a limit of its own it is estimated first, and throws where it would revert. */
export function by(sender: Account, gas?: bigint) {
  return { account: sender, chain: anvil, ...(gas !== undefined && { gas }) };
}

function clientOf(url: string) {
  return createTestClient({
    mode: 'anvil',
    chain: anvil,
    transport: http(url, { retryCount: 0, timeout: 60_000 }),
    pollingInterval: 20,
    cacheTime: 0,
  })
    .extend(publicActions)
    .extend(walletActions);
}

export type Client = ReturnType<typeof clientOf>;
export type Contract<abi extends Abi> = GetContractReturnType<abi, Client, Address>;

/** A node of this test file's own, on which each transaction is a block. */
export class LocalNode {
  readonly client: Client;
  readonly #anvil: Anvil;

  private constructor(anvil: Anvil) {
    this.#anvil = anvil;
    this.client = clientOf(anvil.url);
  }

  static async start(): Promise<LocalNode> {
    return new LocalNode(await startAnvil());
  }

  async stop(): Promise<void> {
    await this.#anvil.stop();
  }

  /** The receipt of a transaction that was sent, also of one that reverted. */
  async mined(sent: Promise<Hex>): Promise<TransactionReceipt> {
    return await this.client.waitForTransactionReceipt({ hash: await sent });
  }

  at<const abi extends Abi>(artifact: { abi: abi }, address: Address): Contract<abi> {
    return getContract({ abi: artifact.abi, address, client: this.client });
  }

  async deploy<const abi extends Abi>(
    { abi, bytecode }: { abi: abi; bytecode: Hex },
    args: readonly unknown[] = [],
  ): Promise<Contract<abi>> {
    const data = encodeDeployData({ abi: abi as Abi, bytecode, args });
    const { contractAddress } = await this.mined(this.client.sendTransaction({ account: OWNER, data }));
    if (contractAddress == null) throw new Error('the contract was not deployed');
    return this.at({ abi }, getAddress(contractAddress));
  }

  async deployUsdt() {
    return await this.deploy(TestUSDT);
  }

  /** Behind its proxy, as the real one. */
  async deployUsdc() {
    const code = await this.deploy(TestUSDC);
    const proxy = await this.deploy(TestProxy, [code.address, account(9).address]);
    const usdc = this.at(TestUSDC, proxy.address);
    await this.mined(usdc.write.initialize([OWNER.address], by(OWNER)));
    return usdc;
  }
}
