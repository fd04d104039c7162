import { Command } from 'commander';
import { addApprovals } from './commands/approvals.ts';
import { addApprovers } from './commands/approvers.ts';
import { addAudit } from './commands/audit.ts';
import { addCheckout } from './commands/checkout.ts';
import { addCompletion } from './commands/completion.ts';
import { addContracts } from './commands/contracts.ts';
import { addCustomers } from './commands/customers.ts';
import { addDeliveries } from './commands/deliveries.ts';
import { addDoctor } from './commands/doctor.ts';
import { addEndpoints } from './commands/endpoints.ts';
import { addInvoices } from './commands/invoices.ts';
import { addKeys } from './commands/keys.ts';
import { addLedger } from './commands/ledger.ts';
import { addLinks } from './commands/links.ts';
import { addListen } from './commands/listen.ts';
import { addMails } from './commands/mails.ts';
import { addMerchants } from './commands/merchants.ts';
import { addNetworks } from './commands/networks.ts';
import { addPaymentMethods } from './commands/payment-methods.ts';
import { addPayments } from './commands/payments.ts';
import { addPayouts } from './commands/payouts.ts';
import { addRefunds } from './commands/refunds.ts';
import { addRequests } from './commands/requests.ts';
import { addRisk } from './commands/risk.ts';
import { addRoles } from './commands/roles.ts';
import { addServiceSettings, addServices } from './commands/services.ts';
import { addSettings } from './commands/settings.ts';
import { addSign } from './commands/sign.ts';
import { addSigner } from './commands/signer-group.ts';
import { addStores } from './commands/stores.ts';
import { addSubscriptions } from './commands/subscriptions.ts';
import { addTreasury } from './commands/treasury.ts';
import { addTrigger } from './commands/trigger.ts';
import { addConsole, addUsers } from './commands/users.ts';
import { addWebhooks } from './commands/webhooks.ts';
import { examples } from './examples.ts';
import { readVersion } from './version.ts';

/** `florin help keys create` says what `florin keys create --help` says. */
function addHelp(program: Command): void {
  const help = program
    .helpCommand(false)
    .command('help [command...]')
    .description('Explain a command')
    .action(async (names: string[]) => {
      await program.parseAsync([...names, '--help'], { from: 'user' });
    });
  examples(help, ['florin help', 'florin help keys create']);
}

/** The whole command line. With `json`, nothing but JSON is written on standard error. */
export function createProgram({ json }: { json: boolean }): Command {
  const program = new Command('florin')
    .description('Run and manage Florin, a payment service of your own.')
    .version(readVersion())
    .option('--json', 'print JSON; errors too, as {"error":{"code","message","doc_url"}} on standard error')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeErr: (text) => void (json || process.stderr.write(text)) })
    .showHelpAfterError('Add --help to see what it takes.')
    .exitOverride();
  examples(program, [
    'florin start                           # a sandbox on this machine',
    'florin sign GET /api/v1/balances | sh  # a signed request to it',
    'florin listen --forward-to 3000        # its events, sent to your server',
    'florin stores list --json              # what is in it',
    'florin ledger verify                   # do the books agree with the chains?',
  ]);
  const groups: ((program: Command) => void)[] = [
    addServices,
    addDoctor,
    addCompletion,
    addSign,
    addCheckout,
    addPayments,
    addLinks,
    addRefunds,
    addCustomers,
    addMails,
    addSubscriptions,
    addInvoices,
    addPaymentMethods,
    addEndpoints,
    addDeliveries,
    addListen,
    addTrigger,
    addWebhooks,
    addMerchants,
    addStores,
    addKeys,
    addRequests,
    addAudit,
    addUsers,
    addRoles,
    addConsole,
    addApprovals,
    addApprovers,
    addPayouts,
    addSettings,
    addRisk,
    addNetworks,
    addTreasury,
    addContracts,
    addLedger,
    addSigner,
    addHelp,
  ];
  for (const add of groups) add(program);
  return program.hook('preSubcommand', (_program, command) => addServiceSettings(command));
}
