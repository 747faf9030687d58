"""The mistake behind each thought that stands on a wrong card, and what is said to whoever chooses it.

Each holds whatever the numbers are; the number on the card is computed again from the thought, where the lesson is
tested. What is said with numbers of its own, or to a card without a thought, has its claim in `test_replies`.
"""

MISTAKES = {
    "tokens": {
        "a row is looked up by token and position": "Only the token is looked up, not its position.",
        "it gathers what came before": "Nothing is gathered yet: each row is looked up on its own.",
        "untrained rows are alike": "Each token has a row of its own, and these two differ.",
        "one of the features counts the position": "No feature counts the position, and more than one number differs.",
        "rows for features, columns for tokens": "That is Xᵀ: in X, the tokens are the rows.",
        "rows for different tokens, columns for features": "A token that appears twice has two rows in X.",
        "rows for tokens, columns for tokens": "X has a column for each feature, not for each token.",
        "one row for the sentence, columns for features": "Each token keeps a row of its own: nothing is merged yet.",
        "a row depends on its position": "A row depends on its token alone, so no new number appears.",
        "a token is a column": "Columns are features, and they stay where they are.",
        "X does not know the order": "The rows of X stand in the order of the tokens, so they move with them.",
        "another position, another row": "The table is asked for the token alone, wherever it stands.",
        "X has one row for each different token": "X has a row for each token, also for one that comes again.",
    },
    "dot_product": {
        "all the numbers of both rows, added up": "That adds before anything is multiplied. Multiply in pairs first.",
        "both sums, multiplied": "That multiplies every number of one row by every number of the other, not in pairs.",
        "the product of the first pair": "That is the first product alone. The others are added to it.",
        "the products of the pairs, averaged": "The products are added up, not averaged.",
        "the order flips the sign": "Two numbers have the same product in either order, sign included.",
        "one vector counts more than the other": "Neither counts more: each product takes one number from each.",
    },
    "projections": {
        "the rows of X, the columns of X": "The columns of X meet the rows of W_q and disappear: its columns are left.",
        "the columns of W_q, the rows of X": "That is Qᵀ: in Q, the tokens are the rows.",
        "the rows of W_q, the columns of W_q": "That is the shape of W_q itself, not of the product.",
        "its row of X, times a column of W_k": "W_k makes its key. Its query comes from W_q.",
        "all rows of X, times a column of W_q": "A query comes from the row of its own token alone.",
        "its row of X, added up": "That leaves out W_q: each number is first multiplied by a weight.",
        "the rows of X, multiplied as they are": "That leaves out W_q and W_k: Q Kᵀ compares queries with keys.",
        "a new token makes every matrix one row longer": (
            "The weights do not grow: a new token uses those that are there."
        ),
        "only the input gets longer": "Q, K and V are computed from X row by row, so they get a row, too.",
        "a new token needs new weights": "All tokens share the same weights, new ones included.",
    },
    "scores": {
        "the score, just as it is": "That is the score before it is scaled.",
        "the score, multiplied by √d_k": "Multiplying would make it larger still. The score is divided.",
        "the score, divided by √d_model": "The score adds up d_k products, so d_k counts, not d_model.",
        "the score, divided by the root of the number of tokens": (
            "A score is about two tokens, however many there are."
        ),
        "the order of the keys stays the same, and so does the weight": (
            "The order stays, but smaller differences bring the weights closer together."
        ),
        "the softmax of the scores, multiplied by √d_k": (
            "Multiplying makes the differences larger and the row sharper."
        ),
        "every visible key gets the same share": (
            "That would take equal scores. Division makes them smaller, not equal."
        ),
        "the softmax of the scores, divided by d_k": "The scores are divided by √d_k, not by d_k.",
        "products of such features also have standard deviation 1": (
            "That is the deviation of one product. Their sum spreads more widely."
        ),
        "each product adds 2 to the variance": "Each product has variance 1, not 2.",
        "more products average out more": "A score is a sum, not an average, so it spreads more with every product.",
    },
    "mask": {
        "softmax gives every key something": (
            "It gives something to every finite score, but the mask makes this one −∞."
        ),
        "only the output leaves it out": (
            "The mask works on the scores, so the weight is already gone before the output."
        ),
        "the mask pulls it far below 0": "The mask pulls the score down to −∞. A weight is never below 0.",
        "it takes over all the weight of the hidden keys": "The other visible keys get their share of it, too.",
        "the weight of the hidden keys is shared out evenly": (
            "It is shared out in proportion: a larger weight gains more."
        ),
        "all visible weights shrink by the same factor": "With fewer keys to share the whole, visible weights grow.",
        "every visible key gets the same share": (
            "The scores still count: a mask hides keys, it does not level the others."
        ),
        "the hidden keys' weights, added up": "That is what was set to 0. The sum is what is left.",
        "the share of keys that are visible": "That counts keys. What adds up is their weights.",
        "the maximum weight of a visible key": "That is one of the weights that are left, not their sum.",
        "the hidden cells of its row": "Those are the keys that it may not look at.",
        "the visible cells of its row, less one": "That is one too few: every visible cell counts.",
        "the visible cells of its row, and one more": "That is one too many: a hidden cell does not count.",
    },
    "softmax": {
        "the softmax of scores divided by √d_k": "In this head the scores are not divided before the softmax.",
        "the softmax of scores not divided by √d_k": "In this head the scores are divided by √d_k before the softmax.",
        "the score, divided by the sum of the scores": "Softmax shares out powers of e, not the scores themselves.",
        "every visible key gets the same share": "That would hold if all visible scores were equal.",
        "e to its score grows, and the sum stays the same": (
            "This power of e is a part of the sum, so the sum grows as well."
        ),
        "e to every other score grows instead": "That would hold if 1 were added to every other score.",
        "half of the others' weight moves here": "How much moves follows from powers of e. No fixed part does.",
        "the difference itself": "Softmax compares powers of e, not the scores themselves.",
        "1, plus the difference": "That is near e to the difference only where the difference is tiny.",
        "2, raised to the difference": "Softmax raises e, not 2.",
        "e, raised to minus the difference": (
            "That is the other way round: how many times as large the smaller weight is."
        ),
        "10, raised to the difference": "Softmax raises e, not 10.",
        "e, raised to twice the difference": "The difference counts once: one power of e divided by the other.",
        "the same, as both are shares of one whole": (
            "They are shares of one whole, but a higher score has a larger share."
        ),
        "the weights from all queries, averaged": "That is the average. The sum is asked for.",
        "the maximum weight from one query": "That is one weight alone. The others are added to it.",
        "every query gives it all its weight": "Then no query would put any weight on another key.",
    },
    "output": {
        "the values, mixed as if there were no mask": "Keys that the mask hides add nothing to the mix.",
        "the visible values, mixed evenly": "Each value counts by its own weight, not all alike.",
        "its own value, unchanged": "The values of other keys are mixed in as well.",
        "for each query, as many numbers as there are keys": (
            "That is the shape of the weights, before they meet the values."
        ),
        "for the whole sentence, one mix of values": "Each query gets a mix of its own.",
        "for each feature of a value, all queries": "That is turned around: in the output, queries are rows.",
    },
    "heads": {
        "every head that is added brings its own weights": (
            "A head that is added takes its features from the others: d_model stays."
        ),
        "wider heads need larger weights": "Wider heads are fewer. Together they have d_model features again.",
        "the root of the features of all heads together": (
            "That is √d_model, but the query of one head has only a part of these features."
        ),
        "the root of the number of heads": "A score adds up the features of one head, however many heads there are.",
        "the number of features of one head": (
            "The standard deviation of the scores grows with the root of that, so the root divides."
        ),
    },
    "positions": {
        "the weight that was in this cell before": "That weight belonged to the tokens that stood there before.",
        "the weight of the query token on itself": "That is the weight that the query puts on its own key.",
        "the weight of the key token on itself": "That is the weight that the other token puts on its own key.",
        "without positions all keys get the same weight": (
            "Without positions the weights still come from queries and keys."
        ),
        "its own vector, plus that of its old position": (
            "The position does not move along: its new place adds another vector."
        ),
        "its own vector, just as it is": "The vector of its new position is added to it.",
        "the row that was at its new position": "That row belongs to the token that stood there before.",
        "the position itself": "What is added is a wave of the position, not the position.",
        "the {wave} of its position, counted from 1": "Positions are counted from 0 here, so this is one too far.",
        "the {wave} of its position, subtracted": "The wave is added, not subtracted.",
        "the {wave} of its position, in degrees": "The angle is in radians, not in degrees.",
        "the query moves, the key stays": "If the query alone moves, the distance changes.",
        "the key goes where the query is": "There the distance would be 0, and the two were apart.",
        "the key moves twice as far as the query": "If the key moves further than the query, the distance changes.",
        "the key goes where the query was": "There the distance is as far as the query has moved, not what it was.",
        "the key moves one step further than the query": "One step further, and the distance is another one.",
    },
    "pytorch": {
        "the same formula, so the same digits": (
            "The formula is the same, but another order of additions rounds differently."
        ),
        "another program, so other numbers": "It is another program, but it adds up the same products.",
        "True keeps a key": "That is the rule of F.scaled_dot_product_attention: there True keeps a key.",
        "the mask counts only with is_causal=True": "A mask given as attn_mask counts without is_causal, too.",
        "a token sees itself, and no more": "A token sees whatever its row does not block, itself or others.",
        "one True in the row blocks all of it": "Each True blocks its own key, and no other.",
        "the weight of the first head": "That is one head. The report speaks for all of them.",
        "the sum over the heads": "The sum is divided by the number of heads.",
        "the maximum over the heads": "It reports the mean over the heads, not the maximum.",
        "the minimum over the heads": "It reports the mean over the heads, not the minimum.",
        "the product over the heads": "The weights are averaged over the heads, not multiplied.",
        "divided in q, and that is all": "Without a scale the function divides on its own.",
        "divided in q, multiplied in the function": "The function divides. It does not undo the division of q.",
        "multiplied, and not divided": "Both steps divide, and none multiplies.",
        "divided in q, then for q and k in the function": "The function divides once, for q and k together.",
        "three matrices, one beside the other": (
            "Beside one another they stand in x @ W. nn.Linear stores each transposed."
        ),
        "one matrix, used three times": "Queries, keys and values have a matrix each.",
    },
    "train": {
        "the bits that it takes to name one token": "That is the logarithm to base 2. The loss takes the natural one.",
        "how often it is wrong": "That is a share of mistakes. The loss is minus a logarithm.",
        "one for each token to choose from": (
            "The loss grows with the logarithm of the number of tokens, not with the number."
        ),
        "how often it is right": "That is the probability itself. The loss is minus its logarithm.",
        "a fair guess is free": "Only probability 1 for the right answer costs nothing.",
        "only the layers": "The layers are not all: tables of vectors are trained as well.",
        "all of it, and the layers again for the way back": (
            "The way back computes gradients, and has no weights of its own."
        ),
        "the layers and all after them": "The tables of vectors before the layers are trained as well.",
        "all of it, and the tables again for the answers": "Each table counts once.",
        "d_model for each of W_q, W_k, W_v and W_o": (
            "Each of these is a whole matrix, and they are not all that is trained."
        ),
    },
    "backward": {
        "the logarithm of p": "A logarithm of a probability is never above 0: the minus is missing.",
        "the probability of the wrong words": "That is a probability. The loss takes a logarithm.",
        "1, divided by p": "The loss is ln of that: the logarithm is missing.",
        "only a wrong guess costs anything": "The right word costs something, too, unless its probability is 1.",
        "the probability, just as it is": "That is the d_logit of a wrong word. For the right one, 1 is subtracted.",
        "1, minus the probability": "That has the wrong sign: a step against it would lower the logit.",
        "minus ln of the probability": "That is the loss, not its gradient.",
        "ln of the probability": "That is the loss with its sign turned, not its gradient.",
        "minus 1, whatever the probability": "The surer the model is, the nearer the gradient is to 0.",
        "twice the step, twice the change": "That would hold if the loss were a straight line.",
        "down the straight line of the gradient": (
            "There the straight line of the gradient leads, and the loss leaves it."
        ),
        "the same direction, the same loss": "The direction is the same, but the step goes further.",
        "the same factor once more": "A loss does not fall by one factor for each length of step.",
        "twice the rate, half the change": "A higher rate makes the step longer, not shorter.",
        "a longer step arrives at the bottom": "A step does not know where the bottom is. It only gets longer.",
    },
    "cost": {
        "more queries, and the same keys": "There are more keys as well, and each query meets all of them.",
        "only the new pairs": "The old pairs are computed as well.",
        "more queries, more keys, and more for each pair": "A pair still takes d_k products, however long the text is.",
        "more queries and more keys, each of them twice": "Each pair of a query and a key counts once.",
        "one product for each pair of tokens, in each head": "A pair takes a product for each of the d_k features.",
        "d_k products for each token, in each head": "Each token meets all tokens, not just one.",
        "d_k products and sums for each pair, in each head": "Only multiplications count here, not additions.",
        "d_k·d_k products for each pair of tokens, in each head": (
            "Features meet in pairs: feature 1 with feature 1, and so on."
        ),
        "d_k products for every three tokens, in each head": "A score is about two tokens, not three.",
        "keys of all tokens": "The values are kept as well.",
        "keys and values of a single token": "That is one token. All of them are kept.",
        "queries, keys and values of all tokens": "A query is used once and then not needed any more.",
        "keys, values and scores of all tokens": "Scores are used at once and not kept.",
    },
    "generate": {
        "the probability, divided by the temperature": "The temperature divides the scores, not the probability.",
        "the scores, multiplied by the temperature": "Multiplying would make the differences larger. They are halved.",
        "the likeliest token stays as likely": "It stays the likeliest, but smaller differences take from it.",
        "a higher temperature makes all tokens equally likely": (
            "They come closer to each other, but the scores still differ."
        ),
        "those with p or more, each on its own": "It is their sum that has to reach p, not each on its own.",
        "the likeliest, while their sum is below p": "The token with which the sum reaches p stays, too.",
        "the share p of all tokens": "p is a share of the probability, not of the tokens.",
        "all of them, as they sum to 1": "Tokens are kept only until the sum reaches p.",
        "a token drawn once stays drawn": "What was drawn before does not count: only the likeliest is left.",
        "each seed draws in its own way": "With one token left, chance has nothing to decide.",
        "a higher temperature brings other tokens to the top": (
            "A temperature never changes which token is the likeliest."
        ),
        "a repeated draw is no longer random": "The same draw comes again, and that was not the likeliest.",
        "each draw is left to chance": "The chance of a computer comes from the seed, and that is the same.",
        "a token drawn once is used up": "A draw uses nothing up.",
    },
    "variants": {
        "its score stays the same, and so does its weight": (
            "Its score stays, but the sink joins the sum that it is divided by."
        ),
        "the weight, less an equal part of what the sink takes": (
            "The sink takes in proportion: more from a larger weight."
        ),
        "the weight, less all that the sink takes": (
            "The sink takes from every key of the row, not from this one alone."
        ),
        "the weight, divided by 1 plus the share": "The share is a part of the whole already: 1 minus it is left.",
        "the weight, times the share of the sink": "That is what the sink takes from this key, not what is left.",
        "clipped at the cap": "A hard cap clips. A soft one bends all scores.",
        "bent: tanh of the score": "The score is divided by the cap first, and the result is multiplied by it.",
        "made smaller: the score over the cap": "That is only what tanh is taken of.",
        "pushed out to the cap, with the sign of the score": "No score reaches the cap, because tanh stays below 1.",
        "the score, times the cap": "That would have no limit, and a cap is one.",
        "the slope added once for each step": "The bias makes distant keys weaker, so it is subtracted.",
        "the slope subtracted for each step, and once more": (
            "That is one step too many: neighbours are one step apart, not two."
        ),
        "the slope subtracted for each token, and once more": "The distance counts, not the length of the sentence.",
        "the slope subtracted as a share of the score": "The bias depends on the distance, not on the score.",
        "the score, just as it is": "Only a key at distance 0 keeps its score.",
        "rows for those that answer, columns for those that ask": "That is turned around: those that ask are the rows.",
        "rows and columns for all tokens": "Only one sentence asks, and only the other answers.",
        "rows for those that ask, columns for all tokens": "The tokens that ask are not among the keys.",
        "rows and columns for those that answer": "The tokens that answer ask nothing, so they have no rows.",
        "keys only, once for each set": "The values are kept as well.",
        "queries, keys and values, once for each set": "Queries are used once and not kept.",
        "keys, values and weights, once for each set": "Weights are computed anew for each query.",
        "keys and values of every head, for each set": "A set is kept once, whichever heads use it.",
        "keys and values of a single token": "That is one token, and each token that is kept needs as much.",
    },
    "read": {
        "one whole, shared by all tokens of the text": "It does not see the whole text: later tokens are hidden.",
        "one whole, shared with what comes next": "What comes next is hidden from it.",
        "one whole, shared by those before it": "It sees itself as well.",
        "one whole, shared by all heads": "Each head has a whole of its own to share out.",
        "one whole on each of them": "One whole is all there is, for all of them together.",
        "one whole, shared by the vocabulary": "It looks at tokens of the text, not at all words there are.",
        "its share of what is added": "That is its part of what is added up. The weight alone is asked for.",
        "as much as each of the others": "That would take equal scores.",
        "the weight of all the others": "That is what all the others get together.",
        "the weight of the last token": "That is what the last token that it sees gets.",
    },
}
OF_ALL = {
    thought: {of[thought] for of in MISTAKES.values() if thought in of} for of in MISTAKES.values() for thought in of
}


def is_mistake(card):
    """Whether a card is told the mistake that is behind its thought."""
    return card.reason is not None and card.reply.template in OF_ALL.get(card.reason.template, ())
