import type { Page } from 'playwright-core';
import type { Address, Hex } from 'viem';
import type { LocalClient } from '../../scripts/local-chain.ts';
import { by } from '../../scripts/local-chain.ts';
import { account } from '../contracts/local-node.ts';
import { ScriptedWallet, WalletError } from './scripted-wallet.ts';

/** Announces a wallet by EIP-6963, as extensions do, whose answers come from the test. */
const ANNOUNCE = `(() => {
  const provider = {
    request: async ({ method, params }) => {
      const { result, error } = await window.walletRequest(method, params ?? []);
      if (error !== undefined) throw Object.assign(new Error(error.message), { code: error.code });
      return result;
    },
  };
  const icon = 'data:image/svg+xml,' + encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M0 1h8v6H0z" fill="#f60"/></svg>');
  const info = Object.freeze({ uuid: '350670db-19fa-4704-a166-e52e178b59d2', name: 'Test Fox', icon, rdns: 'test.fox' });
  const announce = () =>
    dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: Object.freeze({ info, provider }) }));
  addEventListener('eip6963:requestProvider', announce);
  announce();
})()`;

/** A local Ethereum. */
interface Local {
  client: LocalClient;
  node: { call(method: string, params: readonly unknown[]): Promise<unknown> };
}

interface Asked {
  to: Address;
  data: Hex;
}

/** A wallet of the payer's browser with a real key, on the world's node. */
export class InjectedWallet extends ScriptedWallet<string, readonly unknown[]> {
  readonly account: ReturnType<typeof account>;
  /** Chains that it knows; it stands on the first one. */
  chains = [31_337];
  readonly #local: Local;

  constructor(local: Local, index: number) {
    super();
    this.#local = local;
    this.account = account(index);
  }

  /** Before the page loads. */
  readonly join = async (page: Page): Promise<void> => {
    await this.expose(page, 'walletRequest');
    await page.addInitScript(ANNOUNCE);
  };

  async usual(method: string, params: readonly unknown[]): Promise<unknown> {
    const [first] = params;
    switch (method) {
      case 'eth_requestAccounts':
      case 'eth_accounts':
        return [this.account.address.toLowerCase()];
      case 'eth_chainId':
        return `0x${(this.chains[0] ?? 0).toString(16)}`;
      case 'wallet_switchEthereumChain':
        return this.#switchTo(Number(Object(first).chainId));
      case 'wallet_addEthereumChain':
        this.chains.unshift(Number(Object(first).chainId));
        return null;
      case 'eth_sendTransaction':
        return await this.send(Object(first));
      case 'eth_signTypedData_v4':
        return await this.account.signTypedData(JSON.parse(String(params[1])));
      case 'personal_sign':
        return await this.account.signMessage({ message: { raw: first as Hex } });
      default:
        return await this.#local.node.call(method, params);
    }
  }

  /** Signs and sends; it lies in no block yet. */
  async send({ to, data }: Asked, from = this.account): Promise<Hex> {
    return await this.#local.client.sendTransaction({ ...by(from, 200_000n), to, data });
  }

  #switchTo(chain: number): null {
    if (!this.chains.includes(chain)) throw new WalletError(4902, 'Unrecognized chain ID.');
    this.chains = [chain, ...this.chains.filter((one) => one !== chain)];
    return null;
  }
}
