import { networkNamed } from '@florin/contract/money';
import { NETWORK_NAMES } from '@florin/pages';
import type { Job, JobOutcome, JobRun } from '../platform/jobs/index.ts';
import type { Platform } from '../platform/platform.ts';
import { getMerchant, listMerchants, listStores } from '../stores/index.ts';
import { merchantTime } from '../tenancy/index.ts';
import { queueMail } from './queue-mail.ts';

/**
 * Handles `NETWORK_STOPPED_JOB`. Live merchants share the chains, so each of them is told; a sandbox merchant has chains of its
 * own. A run that ended halfway begins anew: who was told before is not told again.
 */
export async function mailNetworkStopped(deps: Platform, job: Job, run: JobRun): Promise<JobOutcome> {
  const network = networkNamed(job.payload.network);
  const stopper = await getMerchant(deps.db, job.merchantId);
  const concerned =
    stopper.mode === 'live'
      ? (await listMerchants(deps.db)).filter(({ mode }) => mode === 'live')
      : [stopper];
  for (const merchant of concerned) {
    const { merchantId } = merchant;
    const [store] = await listStores(deps, merchantId);
    if (store === undefined) continue;
    await run.step((tx) =>
      queueMail(tx, { merchantId, storeId: store.store_id }, merchantTime(deps, merchant), {
        kind: 'network_stopped',
        about: network,
        cause: `${network} ${String(job.payload.stoppedAt)}`,
        values: {
          network: NETWORK_NAMES[network],
          network_id: network,
          reason: String(job.payload.reason),
        },
        rows: { network: NETWORK_NAMES[network] },
        link: null,
      }),
    );
  }
  return 'done';
}
