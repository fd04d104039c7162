import type { Network } from '@florin/contract/money';
import { networkCommands } from '../../packages/server/src/operator/networks.ts';
import { addApprover } from '../../packages/server/src/stores/approvers/index.ts';
import { encodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { asOwner } from '../ledger.ts';
import type { TestMerchant, TestService } from '../service.ts';
import { auditOnce } from './audits.ts';

/** Replaces the block of the newest transaction of the hot wallet, and all above it. */
export async function takeNewest(service: TestService, { merchantId }: TestMerchant, network: Network) {
  const chain = service.app.chains.sandbox(merchantId, network);
  const [row] = await asOwner<{ height: string }>(
    service,
    `select max(height)::text as height from transfer_attempt
     where merchant_id = $1 and network = $2 and key_ref = 'hot'`,
    [merchantId, network],
  );
  await chain.reorgFrom(BigInt(row?.height ?? '0'));
}

/** Lets a reorganisation take the newest transaction of the hot wallet on spl, until its bytes are dead. */
export async function lose(service: TestService, merchant: TestMerchant): Promise<void> {
  const { merchantId } = merchant;
  const chain = service.app.chains.sandbox(merchantId, 'spl');
  await takeNewest(service, merchant, 'spl');
  // Nobody gets the bytes any more, though they are sent again.
  await chain.dropNext(1_000);
  await auditOnce(service, merchantId, 'spl');
  await chain.mine(250);
  await auditOnce(service, merchantId, 'spl');
  await chain.dropNext(0);
}

export async function resume(service: TestService, { merchantId }: TestMerchant, network: Network) {
  await networkCommands(service.app).resume(network, encodeId('merchant', merchantId));
}

/** Two people who decide. @returns each one's name and token */
export async function twoApprovers(service: TestService, { merchantId }: TestMerchant) {
  const people: { as: string; token: string }[] = [];
  for (const as of ['Ann', 'Bob']) people.push({ as, token: await addApprover(service.app, merchantId, as) });
  return people;
}
