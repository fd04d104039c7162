import type { Asset } from '@florin/contract/money';
import type { Subscription } from '@florin/contract/schemas';
import { type Abi, type Address, type Hex, type LocalAccount, parseEther, parseSignature } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { TestUSDC, TestUSDT } from '../../contracts/artifacts/index.ts';
import { by, mined, OWNER } from '../../scripts/local-chain.ts';
import type { World } from '../chains/evm/world.ts';
import type { LiveStore } from './live-store.ts';

interface Offer {
  wallet: string;
  cap: string;
  subscriptions: number;
  starts_at: number;
  steps: [Approval, { kind: 'activate'; typed_data: string }];
}

type Approval = { kind: 'approve'; spender: Address; amount: string } | Permit;
interface Permit {
  kind: 'permit';
  spender: Address;
  amount: string;
  nonce: string;
  deadline: number;
  typed_data: string;
}

/** A payer's wallet with a key of its own: it approves and signs what the subscribe page's calls hand it. */
export class PayerWallet {
  readonly account: LocalAccount;
  readonly world: World;
  readonly asset: Asset;

  constructor(world: World, account: LocalAccount, asset: Asset) {
    this.world = world;
    this.account = account;
    this.asset = asset;
  }

  /** A wallet of USDC signs its approvals, and has no ether. */
  static async start({ world }: LiveStore, tokens: bigint, asset: Asset = 'USDT'): Promise<PayerWallet> {
    const wallet = new PayerWallet(world, privateKeyToAccount(generatePrivateKey()), asset);
    if (asset === 'USDT') await world.client.setBalance({ address: wallet.address, value: parseEther('1') });
    await world.mint(asset, wallet.address, tokens);
    return wallet;
  }

  get #choice() {
    return { network: 'erc20', currency: this.asset };
  }

  get address(): Address {
    return this.account.address;
  }

  async balance(): Promise<bigint> {
    return await this.world.balance(this.asset, this.address);
  }

  async allowance(spender: Address): Promise<bigint> {
    return await this.world.client.readContract({
      address: this.world.tokens[this.asset],
      abi: TestUSDT.abi,
      functionName: 'allowance',
      args: [this.address, spender],
    });
  }

  /** USDT goes from one allowance to another by way of 0. */
  async approve(spender: Address, amount: bigint): Promise<void> {
    await this.world.own(this.asset, 'approve', [spender, 0n], this.account);
    if (amount > 0n) await this.world.own(this.asset, 'approve', [spender, amount], this.account);
  }

  async offer(page: string): Promise<Offer> {
    const answer = await post(`${page}/mandate/offer`, { ...this.#choice, wallet: this.address });
    if (answer.status !== 200) throw new Error(`offer: ${JSON.stringify(answer.json)}`);
    return answer.json as Offer;
  }

  async sign({ steps }: Offer, by: LocalAccount = this.account): Promise<Hex> {
    return await by.signTypedData(JSON.parse(steps[1].typed_data));
  }

  /** Signs the approval that the page offers as a signature. */
  async permit({ steps: [step] }: Offer, by: LocalAccount = this.account): Promise<Hex> {
    return await by.signTypedData(JSON.parse(permitOf(step).typed_data));
  }

  async give(page: string, offer: Offer, signature: Hex, permit?: Hex) {
    const { wallet, cap, subscriptions, starts_at, steps } = offer;
    const terms = { wallet, cap, subscriptions: String(subscriptions), starts_at: String(starts_at) };
    const permitted =
      permit === undefined ? {} : { permit_nonce: permitOf(steps[0]).nonce, permit_signature: permit };
    return await post(`${page}/mandate/sign`, { ...this.#choice, ...terms, ...permitted, signature });
  }

  /** Calls a contract, in a block of its own. */
  async call(
    address: Address,
    { abi, functionName, args }: { abi: Abi; functionName: string; args: readonly unknown[] },
  ): Promise<void> {
    const { client } = this.world;
    const hash = client.writeContract({ ...by(this.account, 300_000n), address, abi, functionName, args });
    await hash;
    await this.world.mine();
    const { status } = await mined(client, hash);
    if (status !== 'success') throw new Error(`${functionName} reverted`);
  }

  /** Approves, signs and hands the mandate in, as a page's script has a wallet do. */
  async subscribe(subscription: Pick<Subscription, 'checkout_url'>): Promise<Offer> {
    const offer = await this.approveFor(subscription);
    await this.handIn(subscription, offer);
    return offer;
  }

  /** What has to be on the chain before the mandate is signed; a permit is signed and goes along with it. */
  async approveFor({ checkout_url: page }: Pick<Subscription, 'checkout_url'>): Promise<Offer> {
    const offer = await this.offer(page ?? '');
    const [approval] = offer.steps;
    if (approval.kind === 'approve') await this.approve(approval.spender, BigInt(approval.amount));
    return offer;
  }

  async handIn({ checkout_url: page }: Pick<Subscription, 'checkout_url'>, offer: Offer): Promise<void> {
    const permit = offer.steps[0].kind === 'permit' ? await this.permit(offer) : undefined;
    const given = await this.give(page ?? '', offer, await this.sign(offer), permit);
    if (given.status !== 200) throw new Error(`sign: ${JSON.stringify(given.json)}`);
  }
}

/** @throws where the page offers a transaction instead */
export function permitOf(step: Approval): Permit {
  if (step.kind !== 'permit') throw new Error('the page asks for no signed approval');
  return step;
}

/** What a permit of USDC says beside its number. */
interface PermitTerms {
  owner: Address;
  spender: Address;
  value: string;
  deadline: string | number;
}

/** A stranger sends a permit to USDC, in a block of its own: whoever knows it may. */
export async function sendPermit(
  world: World,
  { owner, spender, value, deadline }: PermitTerms,
  signature: Hex,
): Promise<void> {
  const { client, tokens } = world;
  const { r, s, v = 0n } = parseSignature(signature);
  const hash = client.writeContract({
    ...by(OWNER, 300_000n),
    address: tokens.USDC,
    abi: TestUSDC.abi,
    functionName: 'permit',
    args: [owner, spender, BigInt(value), BigInt(deadline), Number(v), r, s],
  });
  await hash;
  await world.mine(1);
  const { status } = await mined(client, hash);
  if (status !== 'success') throw new Error('the permit reverted');
}

async function post(url: string, form: Record<string, string>) {
  const answer = await fetch(url, { method: 'POST', body: new URLSearchParams(form) });
  return { status: answer.status, json: (await answer.json()) as unknown };
}
