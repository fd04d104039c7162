// Made by npm run contracts.
export const BatchPayout = {
  abi: [
    { inputs: [], name: 'NoToken', type: 'error' },
    { inputs: [], name: 'Reentered', type: 'error' },
    { inputs: [], name: 'TooLittleGas', type: 'error' },
    {
      anonymous: false,
      inputs: [
        { indexed: true, name: 'from', type: 'address' },
        { indexed: true, name: 'group', type: 'bytes32' },
        { indexed: false, name: 'index', type: 'uint256' },
        { indexed: false, name: 'ok', type: 'bool' },
      ],
      name: 'Item',
      type: 'event',
    },
    {
      anonymous: false,
      inputs: [
        { indexed: true, name: 'from', type: 'address' },
        { indexed: true, name: 'group', type: 'bytes32' },
        { indexed: false, name: 'index', type: 'uint256' },
      ],
      name: 'PaidBefore',
      type: 'event',
    },
    {
      inputs: [
        { name: 'from', type: 'address' },
        { name: 'group', type: 'bytes32' },
        { name: 'index', type: 'uint256' },
      ],
      name: 'isPaid',
      outputs: [{ name: '', type: 'bool' }],
      stateMutability: 'view',
      type: 'function',
    },
    {
      inputs: [
        { name: 'token', type: 'address' },
        { name: 'group', type: 'bytes32' },
        {
          name: 'payments',
          type: 'tuple[]',
          components: [
            { name: 'index', type: 'uint256' },
            { name: 'to', type: 'address' },
            { name: 'amount', type: 'uint256' },
          ],
        },
      ],
      name: 'pay',
      outputs: [],
      stateMutability: 'nonpayable',
      type: 'function',
    },
  ],
} as const;

export const Sweeper = {
  abi: [
    { inputs: [{ name: 'operator_', type: 'address' }], stateMutability: 'nonpayable', type: 'constructor' },
    { inputs: [], name: 'NoAddress', type: 'error' },
    { inputs: [], name: 'NotOperator', type: 'error' },
    { inputs: [], name: 'TooLittleGas', type: 'error' },
    {
      anonymous: false,
      inputs: [
        { indexed: true, name: 'from', type: 'address' },
        { indexed: true, name: 'token', type: 'address' },
        { indexed: false, name: 'amount', type: 'uint256' },
        { indexed: false, name: 'ok', type: 'bool' },
      ],
      name: 'Swept',
      type: 'event',
    },
    {
      inputs: [],
      name: 'operator',
      outputs: [{ name: '', type: 'address' }],
      stateMutability: 'view',
      type: 'function',
    },
    {
      inputs: [
        {
          name: 'sweeps',
          type: 'tuple[]',
          components: [
            { name: 'from', type: 'address' },
            { name: 'token', type: 'address' },
            { name: 'amount', type: 'uint256' },
          ],
        },
      ],
      name: 'sweep',
      outputs: [],
      stateMutability: 'nonpayable',
      type: 'function',
    },
  ],
} as const;
