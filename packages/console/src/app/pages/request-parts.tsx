/** A request as the list has it. */
export interface LoggedRequest {
  id: string;
  at: string;
  request_id: string;
  store: string;
  key: string;
  verified: boolean;
  method: string;
  route: string;
  path: string;
  query: string;
  status: number;
  duration_ms: number;
  error_code: string | null;
  refusal: string | null;
  remote_address: string;
}

const toneOf = (status: number) => {
  if (status >= 500) return 'bad';
  return status >= 400 ? 'warn' : 'good';
};

export const HttpStatus = ({ status }: { status: number }) => (
  <span className="status" data-tone={toneOf(status)}>
    {status}
  </span>
);
