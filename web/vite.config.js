// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One file out: program, style and page, without the data. CMake says where it
// goes by --outDir.
import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

export default defineConfig({
  plugins: [viteSingleFile({ removeViteModuleLoader: true })],
  build: { target: "es2022", modulePreload: false },
});
