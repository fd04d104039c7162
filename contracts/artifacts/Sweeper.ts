// Made by npm run contracts.
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
  bytecode:
    '0x60a034607f57601f6103cd38819003918201601f19168301916001600160401b03831184841017608357808492602094604052833981010312607f57516001600160a01b038116808203607f571560715760805260405161033590816100988239608051818181607901526101280152f35b6267a91f60e71b5f5260045ffd5b5f80fd5b634e487b7160e01b5f52604160045260245ffdfe60806040526004361015610011575f80fd5b5f3560e01c806324a6778e146100a15763570ca7351461002f575f80fd5b3461009d575f7ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffc36011261009d57602060405173ffffffffffffffffffffffffffffffffffffffff7f0000000000000000000000000000000000000000000000000000000000000000168152f35b5f80fd5b3461009d5760207ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffc36011261009d5760043567ffffffffffffffff811161009d573660238201121561009d5780600401359067ffffffffffffffff821161009d57366024606084028301011161009d5773ffffffffffffffffffffffffffffffffffffffff7f00000000000000000000000000000000000000000000000000000000000000001633036102ec575f5b828110156102ea5760608102820190602482019162027a4c5a106102c25761017783610314565b6044820191606461018784610314565b910135916040519073ffffffffffffffffffffffffffffffffffffffff60208301937f6ea056a900000000000000000000000000000000000000000000000000000000855216602483015283604483015260448252608082019282841067ffffffffffffffff8511176102955760019760205f73ffffffffffffffffffffffffffffffffffffffff948594826040987f61cbabd47ac10dcd6974434ca1cf178ea154d9cc1ba436f1975d85bdc307c9909a8a528180525192620249f0f13d9161025a6102545f5192610314565b99610314565b928261028a575b5081610280575b5084519687521515602087015216941692a301610150565b8a9150148c610268565b60201491508d610261565b7f4e487b71000000000000000000000000000000000000000000000000000000005f52604160045260245ffd5b7f5dd42bb6000000000000000000000000000000000000000000000000000000005f5260045ffd5b005b7f7c214f04000000000000000000000000000000000000000000000000000000005f5260045ffd5b3573ffffffffffffffffffffffffffffffffffffffff8116810361009d579056',
} as const;
