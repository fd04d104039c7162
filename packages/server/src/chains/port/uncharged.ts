import type { Chain } from './port.ts';
import { UnbuildableTransfer } from './port-errors.ts';

async function refuse(): Promise<never> {
  throw new UnbuildableTransfer('wallets are not charged on this network');
}

/** What the port asks of a network on which no wallet is charged and nothing prepares a transaction. */
export const UNCHARGED = {
  precheck: async () => null,
  precheckCharges: async () => null,
  checkMandate: async () => null,
  mandateSetup: refuse,
  mandateStates: refuse,
  buildCharge: refuse,
} satisfies Partial<Chain>;
