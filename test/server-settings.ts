/** PostgreSQL as on a small server of one's own: the defaults are for machines of the last century. */
export const SERVER_SETTINGS = {
  shared_buffers: '1GB',
  max_wal_size: '6GB',
  checkpoint_timeout: '15min',
  // After some hours its files are there and used again. A new one is filled with zeros first, while every commit waits.
  wal_init_zero: 'off',
};

/** The statements that set them, each in a commit of its own; they hold from the next start on. */
export const WRITE_SERVER_SETTINGS: readonly string[] = Object.entries(SERVER_SETTINGS).map(
  ([name, value]) => `alter system set ${name} = '${value}'`,
);
