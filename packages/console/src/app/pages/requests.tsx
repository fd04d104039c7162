import { CopyId, Maybe, Time } from '../format.tsx';
import { List, type ListDefinition } from '../list.tsx';
import { usePlace } from '../place.ts';
import { HttpStatus, type LoggedRequest } from './request-parts.tsx';

const REFUSALS = ['headers', 'signature', 'timestamp', 'ended', 'nonce'];

const definitionOf = (path: string): ListDefinition<LoggedRequest> => ({
  title: 'Request log',
  path,
  folder: 'requests',
  idOf: ({ id }) => id,
  columns: [
    { title: 'Time', cell: ({ at }) => <Time at={Date.parse(at) / 1000} isExact /> },
    { title: 'Status', cell: ({ status }) => <HttpStatus status={status} /> },
    {
      title: 'Request',
      cell: ({ method, path: sent }) => (
        <>
          {method} {sent}
        </>
      ),
    },
    { title: 'Error', cell: ({ error_code, refusal }) => <Maybe>{refusal ?? error_code}</Maybe> },
    { title: 'Took', isNumber: true, cell: ({ duration_ms }) => `${duration_ms} ms` },
    { title: 'Key', cell: ({ key }) => <CopyId id={key} isShort /> },
    { title: 'Request id', cell: ({ request_id }) => <CopyId id={request_id} isShort /> },
  ],
  filters: [
    { name: 'status', label: 'Status', options: ['2xx', '4xx', '5xx', '401', '403', '404', '409', '429'] },
    { name: 'route', label: 'Path begins with' },
    { name: 'error_code', label: 'Error code' },
    { name: 'refusal', label: 'Refused for', options: REFUSALS },
    { name: 'key_id', label: 'API key' },
    { name: 'request_id', label: 'Request id' },
    { name: 'since', label: 'Since', isTime: true },
    { name: 'until', label: 'Until', isTime: true },
  ],
  empty: {
    text: 'No requests in the last 30 days. Your server sends them with an API key; this sends one in a sandbox:',
    command: 'npx florin sign GET /api/v1/balances | sh',
  },
});

/** API requests that keys of the store have signed. */
export function RequestsPage() {
  const { merchant, store } = usePlace();
  return <List definition={definitionOf(`/console/api/merchants/${merchant}/stores/${store}/requests`)} />;
}
