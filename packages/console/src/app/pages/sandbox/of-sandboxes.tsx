import { Text } from '@mantine/core';

/** In the place of a page that real money does not have, nor a role that may not use it. */
export const OfSandboxes = () => (
  <Text>
    Clock, chains, wallets and inbox are those of a sandbox, and for its people whose role may use them.
  </Text>
);
