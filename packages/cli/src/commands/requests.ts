import type { Operator } from '@florin/server/operator';
import { columnsOf } from '../columns.ts';
import { operator } from '../operations.ts';
import { made, page, text } from '../options.ts';
import { resource } from '../resource.ts';
import { cell, formatTable } from '../table.ts';

type Logged = Awaited<ReturnType<Operator['requests']['list']>>[number];
type Details = Awaited<ReturnType<Operator['requests']['show']>>;

const CONTENT_TOO_LARGE = 413;

const listed = columnsOf<Logged>()('at method path status ms error=error_code refusal request_id', {
  ms: ({ duration_ms }) => duration_ms,
});

const summary = columnsOf<Details>()(
  'id request_id at method path query route status ms error=error_code refusal verified merchant store key from',
  { ms: ({ duration_ms }) => duration_ms, from: ({ remote_address }) => remote_address },
);

/** Lines as they are, each without what a terminal would obey. */
const safeLines = (text: string) => text.split('\n').map((line) => (line === '' ? '' : cell(line)));

/** The lines of a body. Whole JSON is indented; text that was cut is printed as it is stored. */
function bodyLines({ text, bytes, is_cut: isCut }: Details['request_body'], status: number): string[] {
  if (text === null)
    return [bytes === 0 && status !== CONTENT_TOO_LARGE ? '(none, or a stream)' : '(not recorded)'];
  const lines = safeLines(indented(text));
  return isCut ? [...lines, `(cut: ${bytes} bytes in all)`] : lines;
}

/** Whoever sent it may have meant the indents to be long: [[[[… */
const GROWTH_MAX = 10;

function indented(text: string): string {
  try {
    const lines = JSON.stringify(JSON.parse(text), null, 2);
    return lines.length > GROWTH_MAX * text.length ? text : lines;
  } catch {
    return text;
  }
}

function explanationLines({ explanation }: Details): string[] {
  if (explanation === null) return [];
  const { summary: reason, steps, payload, signed_payload: signed } = explanation;
  const rows = steps.map(({ name, ok, ...rest }) => ({
    step: name,
    ok: ok === null ? 'unknown' : ok ? 'yes' : 'NO',
    ...rest,
  }));
  const signedLines =
    payload === null || signed === null
      ? []
      : [
          `What the server signed, ${payload.bytes} bytes, SHA-256 ${payload.sha256}:`,
          ...safeLines(signed),
          '(Secrets are masked here, and a long body is cut; the digest is of the original.)',
          '',
        ];
  const table = rows.length === 0 ? [] : [formatTable(rows), ''];
  return [`The signature was refused. ${cell(reason)}`, '', ...table, ...signedLines];
}

const contents = (one: Details) =>
  [
    ...explanationLines(one),
    'REQUEST',
    ...safeLines(one.request_headers),
    '',
    ...bodyLines(one.request_body, one.status),
    '',
    'ANSWER',
    ...bodyLines(one.answer_body, one.status),
  ].join('\n');

const operation = operator(listed);
const details = operator(summary);

export const addRequests = resource({
  name: 'requests',
  description: 'The request log: what was asked with an API key, and why it was refused',
  examples: [
    'florin requests list --status 4xx --since 1h',
    'florin requests show req_0193…   # headers, bodies, and which step of a signature differs',
    'florin requests list --follow',
  ],
  operations: [
    operation('list', 'List the signed requests of a merchant, newest first', {
      examples: [
        'florin requests list --since today --status 4xx',
        'florin requests list --key key_01… --route /api/v1/payout-batches --method POST',
        'florin requests list --refusal signature --follow',
        'florin requests list --since 24h --csv > requests.csv',
      ],
      options: {
        merchant: text('--merchant <id>', 'of this merchant (needed where there are several)'),
        store: text('--store <id>', 'of this store'),
        key: text('--key <id>', 'with this API key'),
        method: text('--method <method>', 'such as POST'),
        route: text('--route <path>', 'of this route: /api/v1/events/{event_id}'),
        status: text('--status <status>', 'answered so: 401, or 4xx'),
        errorCode: text('--error-code <code>', 'with this error code in the answer'),
        refusal: text('--refusal <reason>', 'refused by headers, signature, timestamp, ended or nonce'),
        requestId: text('--request-id <id>', 'with this X-Request-Id'),
        ...made,
        ...page('request'),
      },
      run: ({ requests }, query) => requests.list(query),
      csv: ({ requests }, query) => requests.csv(query),
      follow: ({ requests }, query, signal) => requests.follow(query, signal),
    }),
    details(
      'show <request>',
      'Show a request with its headers and bodies, without secrets; of a refused signature also what the server ' +
        'signed, and which step differs',
      {
        examples: [
          'florin requests show req_0193…',
          'florin requests show my-own-id-17 --merchant mer_01… --json',
        ],
        options: { merchant: text('--merchant <id>', 'of this merchant alone') },
        run: ({ requests }, { request, merchant }) => requests.show(request, merchant),
        text: contents,
      },
    ),
  ],
});
