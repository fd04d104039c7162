import { randomBytes } from 'node:crypto';
import { checkAddress } from '../../packages/server/src/chains/addresses/index.ts';
import { type Child, startChild } from '../child.ts';
import { randomAddress } from '../create/addresses.ts';
import { load } from '../create/load.ts';
import { bodyWriter, buildRequests } from '../create/requests.ts';
import { cpuSeconds } from '../procfs.ts';
import { interleave } from '../rounds.ts';
import type { Findings, RunOptions } from '../rows.ts';
import { median, ratios, short } from '../statistics.ts';

const ITEMS = 200;
const CONNECTIONS = 8;
const FORMS = ['checked', 'parsed'] as const;
const NETWORKS = ['erc20', 'trc20', 'spl'] as const;

/** Row 4: what signature and shape cost beside the JSON, on the real server and without a database. */
export async function runValidate(_server: unknown, options: RunOptions): Promise<Findings> {
  const credentials = { apiKey: 'fl_live_bench', secretKey: randomBytes(32).toString('hex') };
  const count = options.quick ? 600 : 2_000;
  const write = bodyWriter('erc20');
  const children = FORMS.map((form) => ({
    form,
    child: startChild('validate/server.ts', {
      argument: { form, secretKey: credentials.secretKey },
      profileDir: options.profileDir,
    }),
  }));
  const cpuOf = async (child: Child, baseUrl: string) => {
    const requests = buildRequests(credentials, count, () => write(ITEMS));
    const before = cpuSeconds(child.pid);
    await load(baseUrl, requests, CONNECTIONS);
    return ((cpuSeconds(child.pid) - before) * 1e6) / count;
  };
  try {
    const settings = [];
    for (const { form, child } of children) {
      const { baseUrl } = await child.next<{ baseUrl: string }>();
      const run = () => cpuOf(child, baseUrl);
      await run();
      settings.push({ name: form, run });
    }
    const { checked = [], parsed = [] } = await interleave(settings, options);
    const raw = { 'checked us CPU': checked, 'parsed us CPU': parsed };
    return {
      results: [{ row: '4', values: ratios(checked, parsed), raw }],
      remarks: [
        `Checking ${ITEMS} items: ${short(median(checked))} us CPU with signature and shape, ` +
          `${short(median(parsed))} us with the JSON alone. An address: ${addressCosts()} us CPU.`,
      ],
    };
  } finally {
    for (const { child } of children) await child.stop();
  }
}

/** Part of no row: the address checks are done after the shape and grow with the curve of the network. */
function addressCosts(): string {
  const costs = NETWORKS.map((network) => {
    const addresses = Array.from({ length: 1_000 }, () => randomAddress(network));
    const check = () => addresses.every((address) => checkAddress(network, address).ok);
    check();
    const before = process.cpuUsage();
    if (!check()) throw new Error(`an address of ${network} was refused`);
    const { user, system } = process.cpuUsage(before);
    return `${short((user + system) / addresses.length)} (${network})`;
  });
  return costs.join(', ');
}
