import path from 'node:path';
import { type Anvil, startAnvil } from './anvil.ts';
import { gasTank } from './chains-commands.ts';
import { type Options, Refused, wholeNumber } from './chains-options.ts';
import { banner, type Running, report } from './chains-report.ts';
import { connect, furnish } from './local-chain.ts';
import { startLocalSolana } from './local-solana.ts';
import { startLocalTron } from './local-tron.ts';
import { refuseForeignFile, removeNetworksFile, writeNetworksFile } from './networks-file.ts';

/** The three nodes, until a signal or the end of one of them. */
export async function start(options: Options): Promise<void> {
  const port = wholeNumber('port', options.port, [0, 65_535]);
  const solanaPort = wholeNumber('solana-port', options['solana-port'], [0, 65_535]);
  const tronPort = wholeNumber('tron-port', options['tron-port'], [0, 65_535]);
  const blockTime = wholeNumber('block-time', options['block-time'], [1, 3_600]);
  const slotsInAnEpoch = wholeNumber('slots-in-an-epoch', options['slots-in-an-epoch'], [1, 64]);
  refuseForeignFile(path.resolve(options.file));
  const tank = options.tank === undefined ? undefined : gasTank(options.tank);
  const anvil = await startAnvil({ port, slotsInAnEpoch }).catch((error: Error) => {
    throw new Refused(
      /in use/i.test(error.message) ? `port ${port} is taken: give another --port` : error.message,
    );
  });
  // From here on a signal ends the node first.
  let stopping = false;
  const stop = () => {
    stopping = true;
    void anvil.stop();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
  const others = [
    startOther('solana', startLocalSolana, solanaPort),
    startOther('tron', startLocalTron, tronPort),
  ] as const;
  try {
    const [solana, tron] = await Promise.all(others);
    const network = await furnish(anvil.url, slotsInAnEpoch, tank);
    const client = connect(anvil.url);
    if (options['by-hand']) await client.setAutomine(false);
    else await client.setIntervalMining({ interval: blockTime });
    await serve({ network, solana, tron }, anvil, options);
  } catch (error) {
    if (!stopping) throw error;
  } finally {
    await anvil.stop();
    for (const other of await Promise.allSettled(others))
      if (other.status === 'fulfilled') await other.value.node.stop();
  }
  if (!stopping) throw new Refused('anvil ended by itself');
}

async function startOther<T>(name: string, begin: (port: number) => Promise<T>, port: number): Promise<T> {
  return await begin(port).catch((error: Error) => {
    throw new Refused(
      /EADDRINUSE/.test(error.message) ? `port ${port} is taken: give another --${name}-port` : error.message,
    );
  });
}

/** Until the node of Ethereum ends. */
async function serve(nodes: Running, anvil: Anvil, options: Options): Promise<void> {
  const file = path.resolve(options.file);
  const networks = { erc20: nodes.network, trc20: nodes.tron.entry, spl: nodes.solana.entry };
  writeNetworksFile(file, networks);
  try {
    console.log(options.json ? JSON.stringify(report(nodes, file), null, 2) : banner(nodes, options, file));
    await anvil.ended;
  } finally {
    removeNetworksFile(file, networks);
  }
}
