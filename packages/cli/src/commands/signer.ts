import type { UnsignedOwnerCall } from '@florin/signer';
import type { NetworkStatus, SignerNetwork, Threshold } from '@florin/signer/protocol';
import { type Command, Option } from 'commander';
import { askWords, showWords } from '../ask-words.ts';
import { examples } from '../examples.ts';
import { CommandFailure, wrongUsage } from '../failure.ts';
import { runUntilSignal } from '../lifecycle.ts';
import type { AddCommand } from '../resource.ts';
import { print, show, wantsJson } from '../show.ts';
import { needed, readSignerAddress, type SignerFlags, withSigner, withSignerClient } from '../signer.ts';
import { note } from '../terminal.ts';

const KEY_FILE = ['--key-file <file>', 'the file that holds the encrypted keys'] as const;
const PASSPHRASE_FILE = [
  '--passphrase-file <file>',
  'file whose first line is the passphrase, such as a credential of systemd',
] as const;
const JOURNAL = ['--journal <file>', 'the file of all that was signed'] as const;
const TLS_KEY = ['--tls-key <file>', 'with https: your own key, PEM'] as const;
const TLS_CERT = ['--tls-cert <file>', 'with https: your own certificate, PEM'] as const;
const TLS_CA = ['--tls-ca <file>', "with https: the authority of the other side's certificate, PEM"] as const;

const NETWORKS: readonly SignerNetwork[] = ['erc20', 'trc20', 'spl'];

interface KeyFlags {
  keyFile: string;
  passphraseFile: string;
}

const credentials = () => process.env.CREDENTIALS_DIRECTORY;

/** A command that calls a running signer. */
function clientCommand(group: Command, usage: string, lines: readonly string[]): Command {
  const command = group
    .command(usage)
    .option('--signer <place>', 'unix:/path/to/socket or https://host:port (FLORIN_SIGNER)');
  for (const [flag, description] of [TLS_KEY, TLS_CERT, TLS_CA]) command.option(flag, description);
  return examples(command, lines);
}

const addInit: AddCommand = (group) => {
  const command = group
    .command('init')
    .description(
      'Make 24 words, write the keys that follow from them into an encrypted file, and begin a journal',
    )
    .requiredOption(...KEY_FILE)
    .requiredOption(...PASSPHRASE_FILE)
    .requiredOption(...JOURNAL)
    .option('--restore', 'type the words of a backup instead of making new ones');
  examples(command, [
    'florin signer init --key-file keys.json --passphrase-file passphrase --journal signer.journal',
    'florin signer init --restore --key-file keys.json --passphrase-file passphrase --journal signer.journal',
  ]).action(init);
};

async function init(flags: KeyFlags & { journal: string; restore?: true }, command: Command): Promise<void> {
  await withSigner(async (signer) => {
    const passphrase = signer.readPassphrase(flags.passphraseFile, credentials());
    signer.checkNewPassphrase(passphrase);
    for (const file of [flags.keyFile, flags.journal]) signer.checkNewFile(file);
    const made = flags.restore ? undefined : signer.makeWords();
    if (made !== undefined) {
      note('Write these words on paper. Whoever has them has all the money; they are not shown again.');
      showWords(made);
    }
    const typed = await askWords('The 24 words', { clearFirst: made !== undefined });
    const words = signer.readWords(typed);
    if (made !== undefined && words !== made) {
      const place = words.split(' ').findIndex((word, i) => word !== made.split(' ')[i]);
      throw new CommandFailure(
        'words',
        `word ${place + 1} is not the one that was shown: nothing was written.`,
      );
    }
    const facts = await signer.writeKeyFile(flags.keyFile, words, passphrase);
    signer.createJournal(flags.journal, facts.fingerprint, Date.now());
    show(command, { ...facts, key_file: flags.keyFile, journal: flags.journal });
  });
}

const addRun: AddCommand = (group) => {
  const command = group
    .command('run')
    .description('Hold the keys and sign what the policy lets pass')
    .requiredOption(...KEY_FILE)
    .requiredOption(...PASSPHRASE_FILE)
    .requiredOption('--policy <file>', 'what may be signed; read once, at the start')
    .requiredOption(...JOURNAL)
    .requiredOption('--listen <place>', 'unix:/path/to/socket or https://host:port');
  for (const [flag, description] of [TLS_KEY, TLS_CERT, TLS_CA]) command.option(flag, description);
  examples(command, [
    'florin signer run --key-file keys.json --passphrase-file passphrase --policy policy.json --journal signer.journal --listen unix:/run/florin/signer.sock',
  ]).action(run);
};

interface RunFlags extends KeyFlags, SignerFlags {
  policy: string;
  journal: string;
  listen: string;
}

async function run(flags: RunFlags, command: Command): Promise<void> {
  await withSigner(async (modules) => {
    const place = readSignerAddress(flags.listen);
    const listen =
      'socket' in place
        ? place
        : {
            ...place,
            key: modules.readPrivateFile(needed(flags.tlsKey, '--tls-key'), 'the TLS key'),
            cert: modules.readPublicFile(needed(flags.tlsCert, '--tls-cert'), 'the TLS certificate'),
            clientCa: modules.readPublicFile(needed(flags.tlsCa, '--tls-ca'), 'the TLS authority'),
          };
    const policy = modules.readPolicy(modules.readPublicFile(flags.policy, 'the policy'));
    const passphrase = modules.readPassphrase(flags.passphraseFile, credentials());
    const start = async () => {
      const signer = await modules.Signer.open({
        keys: await modules.openKeyFile(flags.keyFile, passphrase),
        policy,
        journalFile: flags.journal,
        checkPassphrase: async (given) => void (await modules.openKeyFile(flags.keyFile, given)),
        log: (event, facts) => note(JSON.stringify({ time: new Date().toISOString(), event, ...facts })),
      });
      const server = await modules.serveSigner(signer, listen, (error, mustEnd) => {
        note(JSON.stringify({ event: 'failed', policy: policy.digest, message: String(error) }));
        // The memory is ahead of what is on disk: whatever is asked next would be judged by it.
        if (mustEnd) process.exit(1);
      });
      return { signer, server, stop: () => server.stop().then(() => signer.close()) };
    };
    await runUntilSignal(start, ({ signer, server }) => {
      const { port } = server;
      const facts = { listen: flags.listen, ...(port !== undefined && { port }), policy: policy.digest };
      if (wantsJson(command))
        print(JSON.stringify({ ...facts, journal: signer.status().journal, pid: process.pid }));
      else print(`The signer listens on ${flags.listen}, policy ${policy.digest.slice(0, 16)}.`);
    });
  });
}

const addExportXpub: AddCommand = (group) => {
  clientCommand(group, 'export-xpub <account>', [
    'florin signer export-xpub 1 --signer unix:/run/florin/signer.sock',
    'florin signer export-xpub 1 --network trc20',
  ])
    .description(
      'Show the public key of an account, from which its deposit addresses follow, and its hot wallet; on spl the wallet alone',
    )
    .addOption(new Option('--network <network>', 'whose account it is').choices(NETWORKS).default('erc20'))
    .action(async (account: string, flags: SignerFlags & { network: SignerNetwork }, command: Command) => {
      if (!/^\d{1,10}$/.test(account))
        throw wrongUsage(`${account} is no account: give a number, such as 1.`);
      const { network, ...place } = flags;
      await withSignerClient(place, async (client) =>
        show(command, await client.account({ network, account: Number(account) })),
      );
    });
};

const addBackupCheck: AddCommand = (group) => {
  const command = group
    .command('backup-check')
    .description('Compare the words on paper with the key file, which needs no passphrase')
    .requiredOption(...KEY_FILE);
  examples(command, ['florin signer backup-check --key-file keys.json']).action(
    async ({ keyFile }: KeyFlags, self: Command) => {
      await withSigner(async (signer) => {
        const facts = signer.readKeyFileFacts(keyFile);
        const words = signer.readWords(await askWords('The 24 words', { clearFirst: false }));
        const typed = signer.factsOfWords(words);
        if (typed.fingerprint !== facts.fingerprint || typed.tank !== facts.tank)
          throw new CommandFailure(
            'words',
            `these words are of the keys ${typed.fingerprint}, the key file of ${facts.fingerprint}.`,
          );
        show(self, { matches: true, ...facts });
      });
    },
  );
};

const addStatus: AddCommand = (group) => {
  clientCommand(group, 'status', ['florin signer status', 'florin signer status --json'])
    .description('Show what a running signer holds: freeze, journal, history, thresholds, approvers')
    .action(async (flags: SignerFlags, command: Command) => {
      await withSignerClient(flags, async (client) => {
        const status = await client.status();
        const { frozen, journal, held, networks, thresholds, approvers } = status;
        show(command, status, () => ({
          version: status.version,
          policy: status.policy,
          frozen:
            frozen === null ? 'no' : `since ${new Date(frozen.since * 1000).toISOString()}: ${frozen.reason}`,
          journal: `${journal.entries} entries, ${journal.head}`,
          history: held === null ? 'none yet' : `${held.history}, generation ${held.generation}`,
          networks: networks.map(networkLine).join(', '),
          payouts: thresholdLine(thresholds.payouts),
          refunds: thresholdLine(thresholds.refunds),
          approvers: approvers.map(({ name, kind }) => `${name} (${kind})`).join(', '),
        }));
      });
    });
};

const networkLine = (one: NetworkStatus) =>
  `${one.network} (${one.network === 'erc20' ? `chain ${one.chainId}` : `genesis ${one.genesis.slice(0, 16)}`})`;

const thresholdLine = (threshold: Threshold) => {
  const { approveAbove, approvals, unapprovedPerDay, unapprovedUsed } = threshold;
  const people = `${approvals} ${approvals === 1 ? 'person' : 'people'}`;
  return `above ${approveAbove} units, or ${unapprovedPerDay} a day (${unapprovedUsed} used): ${people}`;
};

const addFreeze: AddCommand = (group) => {
  clientCommand(group, 'freeze', ['florin signer freeze --reason "the office was broken into"'])
    .description('Stop all signing at once, also after a restart')
    .option('--reason <text>', 'shown to whoever asks for a signature', 'frozen by an operator')
    .action(async ({ reason, ...flags }: SignerFlags & { reason: string }, command: Command) => {
      await withSignerClient(flags, async (client) => show(command, pickFrozen(await client.freeze(reason))));
    });
};

const addUnfreeze: AddCommand = (group) => {
  clientCommand(group, 'unfreeze', ['florin signer unfreeze --passphrase-file passphrase'])
    .description('Let a frozen signer sign again')
    .requiredOption(...PASSPHRASE_FILE)
    .action(async ({ passphraseFile, ...flags }: SignerFlags & KeyFlags, command: Command) => {
      await withSignerClient(flags, async (client, { readPassphrase }) =>
        show(command, pickFrozen(await client.unfreeze(readPassphrase(passphraseFile, credentials())))),
      );
    });
};

const pickFrozen = ({ frozen }: { frozen: { since: number; reason: string } | null }) =>
  frozen === null ? { frozen: false } : { frozen: true, ...frozen };

const addBeginEpoch: AddCommand = (group) => {
  clientCommand(group, 'begin-epoch <account> <epoch>', [
    'florin signer begin-epoch 1 1 --passphrase-file passphrase',
  ])
    .description(
      'Tell a signer whose journal was lost in which epoch an account is, one after another up to the one that ' +
        'a dry run of florin signer rotate names. To give a merchant a new hot wallet use florin signer rotate.',
    )
    .requiredOption(...PASSPHRASE_FILE)
    .action(
      async (
        account: string,
        epoch: string,
        { passphraseFile, ...flags }: SignerFlags & KeyFlags,
        command: Command,
      ) => {
        const wanted = {
          network: 'erc20',
          account: Number(digits(account, 'the account')),
          epoch: Number(digits(epoch, 'the epoch')),
        } as const;
        await withSignerClient(flags, async (client, { readPassphrase }) => {
          const passphrase = readPassphrase(passphraseFile, credentials());
          const { hot, journal, ...begun } = await client.beginEpoch({ ...wanted, passphrase });
          show(command, { account: begun.account, epoch: begun.epoch, hot, entries: journal.entries });
        });
      },
    );
};

const addVerifyJournal: AddCommand = (group) => {
  const command = group
    .command('verify-journal')
    .description('Read a journal from its first line and check that each names the one before')
    .requiredOption(...JOURNAL);
  examples(command, ['florin signer verify-journal --journal signer.journal']).action(
    async ({ journal }: { journal: string }, self: Command) => {
      await withSigner(async ({ readJournal, Memory }) => {
        const memory = new Memory();
        const { heads, torn } = readJournal(journal, (entry) => memory.apply(entry));
        const { count } = heads;
        show(self, { entries: count, head: heads.at(count), keys: memory.fingerprint, torn_bytes: torn });
      });
    },
  );
};

interface OwnerFlags extends KeyFlags {
  policy: string;
  operator?: string;
  home?: string;
  nonce?: string;
  maxFee?: string;
  priorityFee?: string;
}

const addOwnerCall: AddCommand = (group) => {
  const command = group
    .command('owner-call <account>')
    .description(
      "Sign, as the owner of a merchant's account at the collector, who charges from now on or where charges go in two " +
        'days. Nothing is sent: any node takes the transaction that is shown. Where the policy names a cold owner, ' +
        'the call is shown unsigned, for its own wallet to send.',
    )
    .requiredOption(...KEY_FILE)
    .requiredOption(...PASSPHRASE_FILE)
    .requiredOption('--policy <file>', "the signer's policy, which names chain, collector and fee ceilings")
    .option('--operator <address>', 'the new operator; the zero address stops all charges')
    .option('--home <address>', 'the new home')
    .option(
      '--nonce <number>',
      "count of the owner's transactions; a cold owner needs neither this nor the fees",
    )
    .option('--max-fee <wei>', 'most per gas')
    .option('--priority-fee <wei>', 'of it at most for the block');
  examples(command, [
    'florin signer owner-call 1 --operator 0x0000000000000000000000000000000000000000 --nonce 0 --max-fee 30000000000 --priority-fee 1000000000 --policy policy.json --key-file keys.json --passphrase-file passphrase',
  ]).action(ownerCall);
};

async function ownerCall(account: string, flags: OwnerFlags, command: Command): Promise<void> {
  const { operator, home } = flags;
  const address = operator ?? home;
  if (address === undefined || (operator !== undefined && home !== undefined))
    throw wrongUsage('Give one of --operator and --home.');
  await withSigner(async (signer) => {
    const { erc20 } = signer.readPolicy(signer.readPublicFile(flags.policy, 'the policy'));
    const passphrase = signer.readPassphrase(flags.passphraseFile, credentials());
    const { erc20: accounts } = await signer.openKeyFile(flags.keyFile, passphrase);
    const { nonce, maxFee, priorityFee } = flags;
    const made = signer.makeOwnerCall(accounts, erc20, {
      account: Number(digits(account, 'the account')),
      what: operator === undefined ? 'home' : 'operator',
      address,
      fees: signer.ownerFeesOf({
        ...(nonce !== undefined && { nonce: digits(nonce, '--nonce') }),
        ...(maxFee !== undefined && { maxFeePerGas: digits(maxFee, '--max-fee') }),
        ...(priorityFee !== undefined && { maxPriorityFeePerGas: digits(priorityFee, '--priority-fee') }),
      }),
    });
    show(command, 'raw' in made ? made : shownCall(made));
  });
}

/** In one level, as a table has it. */
const shownCall = ({ unsigned: { chainId, ...call }, does, collectorAccount }: UnsignedOwnerCall) => ({
  chain_id: chainId,
  ...call,
  does,
  collector_account: collectorAccount,
});

function digits(text: string, name: string): string {
  if (!/^\d{1,15}$/.test(text)) throw wrongUsage(`${name} is a number in digits, not ${text}.`);
  return text;
}

/** The signer's commands, for a group of `florin` and for the signer's own program. */
export const SIGNER_OPERATIONS: readonly AddCommand[] = [
  addInit,
  addRun,
  addExportXpub,
  addBackupCheck,
  addStatus,
  addFreeze,
  addUnfreeze,
  addBeginEpoch,
  addVerifyJournal,
  addOwnerCall,
];
