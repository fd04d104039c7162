/** What one endpoint says of a network. */
export interface EndpointReport {
  host: string;
  own: boolean;
  ok: boolean;
  /** One line each, without the URL. */
  problems: string[];
}
