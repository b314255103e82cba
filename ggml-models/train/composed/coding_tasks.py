"""Requests to write code, as people type them to an assistant.

`prompts(seed, count)` returns distinct prompts. Each one combines a task, a
language that suits the task, a phrasing, and optional extras: conditions,
sample inputs, or a wish for comments, tests or an explanation.
"""

import random

# Languages a group of tasks can be asked for; repeats are weights.
GENERAL = ["Python"] * 4 + ["JavaScript"] * 2 + ["Java"] * 2 + ["C++"] * 2 + [
    "C", "Go", "Rust", "TypeScript", "C#"]
OBJECTS = ["Python"] * 3 + ["Java"] * 2 + ["C++", "C#"] * 2 + [
    "JavaScript", "TypeScript", "Rust", "Go"]
SYSTEM = ["Python"] * 3 + ["Bash"] * 3 + ["Go", "Rust", "Java", "C#", "C++",
                                          "Node.js"]
SERVER = ["Python", "JavaScript", "Go"] * 2 + ["TypeScript", "Java", "C#",
                                               "Rust"]
THREADS = ["Python", "Java", "Go", "Rust", "C++", "C#"]
WEB = ["HTML", "HTML and CSS", "HTML, CSS and JavaScript",
       "HTML, CSS and a little JavaScript"]
WEB_APP = ["HTML, CSS and JavaScript", "HTML and JavaScript", "JavaScript"]
BROWSER = ["JavaScript"] * 3 + ["TypeScript", "plain JavaScript"]

# In the lists below each line is a task, optionally followed by extras that
# suit it, separated by " | ". Extras that start in lower case continue the
# sentence; the others are sentences of their own.

NUMBERS = """
check whether a year is a leap year | without using a date library | Test it with 1900, 2000 and 2024.
compute the factorial of a number | using recursion | without recursion | It should handle numbers as large as 50.
find the least common multiple of a list of numbers | For [4, 6, 10] the result is 60.
check whether a number is an Armstrong number | For example, 153 and 9474 are Armstrong numbers.
generate the first n rows of Pascal's triangle | For n = 4, print 1, 1 1, 1 2 1, 1 3 3 1.
convert a temperature between Celsius, Fahrenheit and Kelvin | Reject temperatures below absolute zero.
list all prime numbers up to n with the sieve of Eratosthenes | with time complexity O(n log log n) | Use it to count the primes below one million.
compute x to the power of n by repeated squaring | without using the power operator | using recursion | Negative exponents should work too.
compute the square root of a number with Newton's method | without using a math library | to six decimal places
reverse the digits of an integer | without converting it to a string | The input -120 should give -21.
find all perfect numbers below a limit | Below 10000 there are 6, 28, 496 and 8128.
convert a number to words in English | for numbers up to one million | For example, 4017 becomes "four thousand seventeen".
calculate the monthly payment of a loan | given the amount, the yearly interest rate and the number of months
estimate pi with a Monte Carlo simulation | Show how the error changes with the number of samples.
split an amount of money into the fewest coins and notes | Use the denominations 1, 2, 5, 10, 20 and 50.
multiply two matrices | without using any library | Raise an error when the sizes do not match.
compute the determinant of a square matrix | using recursion | using Gaussian elimination
transpose a matrix that is stored as a list of rows | in place for square matrices
solve a system of linear equations with Gaussian elimination | with partial pivoting
count the set bits in an integer | without converting it to a string | For 29 the answer is 4.
check whether a number is a power of two | using bitwise operators | in one line
swap two variables | without a temporary variable | Show two different ways.
generate a random password of a given length | with at least one digit, one capital letter and one symbol
compute the mean, the variance and the standard deviation of a list of numbers | without using a statistics library
round prices to the nearest five cents | For example, 3.42 becomes 3.40 and 3.43 becomes 3.45.
calculate the greatest distance between any two points in a list | Each point is a pair of coordinates.
simulate rolling two dice ten thousand times and print how often each total appears
compute compound interest for each year and print it as a table | Use 1500 dollars at 4 percent for 10 years as an example.
"""

STRINGS = """
reverse the order of the words in a sentence | without using built-in functions | "the cat sat down" should become "down sat cat the".
check whether two strings are anagrams | with time complexity O(n) | Ignore spaces and capital letters.
find the first character in a string that does not repeat | with time complexity O(n) | For "swiss" the answer is "w".
compress a string with run-length encoding | For example, "aaabccdddd" becomes "a3b1c2d4".
count how often each word appears in a text | Ignore punctuation and case.
encrypt and decrypt a message with a Caesar cipher | Leave digits and punctuation unchanged.
encrypt a message with the Vigenère cipher | Use the key "LEMON" in an example.
convert a string from snake_case to camelCase | "max_file_size" should become "maxFileSize".
turn an article title into a URL slug | "Ten Tips for Better Bread!" should become "ten-tips-for-better-bread".
capitalize the first letter of every word in a string | except for small words such as "of", "and" and "the"
find the longest substring without repeating characters | with time complexity O(n) | using a sliding window | For "abcabcbb" the answer has length 3.
find the longest palindromic substring of a string | with time complexity O(n^2) | For "forgeeksskeegfor" it is "geeksskeeg".
wrap a long paragraph so that no line exceeds 72 characters | without using a text library
remove duplicate words from a sentence | while keeping the original order
check whether one string is a rotation of another | in one line | "waterbottle" and "erbottlewat" should give true.
generate all permutations of a string | using recursion | without duplicates when letters repeat
find all substrings of a string that read the same backwards
convert English text to Morse code and back | Separate letters with a space and words with a slash.
translate a sentence into pig latin | "hello apple" should become "ellohay appleway".
mask all but the last four digits of a credit card number | Keep the dashes or spaces where they are.
validate a credit card number with the Luhn algorithm
compute the Hamming distance between two strings of equal length | Throw an error when the lengths differ.
search for a pattern in a text with the Knuth-Morris-Pratt algorithm | Print every index where the pattern occurs.
count the number of lines, words and characters in a text
expand a string such as "3[ab2[c]]" into "abccabccabcc" | using a stack | using recursion
compare two version numbers such as "1.10.2" and "1.9" | Return -1, 0 or 1.
format a number of seconds as hours, minutes and seconds | 3725 should become "1:02:05".
find the shortest word and the most common letter in a sentence
"""

ARRAYS = """
find the second largest number in an array | without sorting | in a single pass | Try it on [12, 35, 1, 10, 34, 1].
rotate an array by k positions to the right | in place | with O(1) extra space | [1, 2, 3, 4, 5] rotated by 2 gives [4, 5, 1, 2, 3].
move all zeros in an array to the end | in place | while keeping the order of the other elements
find the missing number in an array that contains 1 to n | with time complexity O(n) and constant space | without sorting
find two numbers in an array that add up to a target | in O(n) time | using a hash map | For [2, 7, 11, 15] and 9 return the indexes 0 and 1.
merge two sorted arrays into one sorted array | without using a sort function | with time complexity O(n + m)
sort an array with bubble sort | and stop early when nothing was swapped | Print the array after each pass.
sort an array with merge sort | using recursion | without recursion | Compare it with the built-in sort.
sort an array with quicksort | in place | with a random pivot | Explain the worst case.
sort an array with insertion sort | in descending order
sort an array of integers between 0 and 100 with counting sort | with time complexity O(n + k)
sort an array of zeros, ones and twos in one pass | with O(1) extra space
find an element in a sorted array with binary search | using recursion | without recursion | Return -1 when it is not there.
find the first and the last position of a value in a sorted array | with time complexity O(log n)
search for a number in a sorted array that was rotated | in O(log n) time | For [6, 7, 9, 1, 3, 4] and 3 return 4.
find the contiguous subarray with the largest sum | using Kadane's algorithm | Also return where it starts and ends.
print a matrix in spiral order | For a 3 by 3 matrix filled with 1 to 9, print 1 2 3 6 9 8 7 4 5.
rotate a square matrix by 90 degrees | in place | counterclockwise
flatten a nested list of any depth | using recursion | without recursion
split a list into chunks of a given size | The last chunk may be shorter.
shuffle an array with the Fisher-Yates algorithm | Explain why every order is equally likely.
group a list of words into anagrams | using a hash map
find the pairs of numbers in an array with a given difference | in O(n) time
merge overlapping intervals | Input: [[1, 3], [2, 6], [8, 10]]. Output: [[1, 6], [8, 10]].
compute the product of all array elements except the one at each index | without division | in O(n) time
find the longest run of consecutive integers in an unsorted array | with time complexity O(n)
find the k most frequent elements in an array | using a heap
compute the moving average of a list with a window of size k | without adding up each window again
find the maximum profit from buying a stock once and selling it later | in a single pass | The prices are [7, 1, 5, 3, 6, 4].
calculate how much rain water is trapped between bars of given heights | with two pointers
remove duplicates from a sorted array | in place | and return the new length
find a peak element in an array | with time complexity O(log n)
"""

SEARCH = """
count the ways to climb a staircase in steps of one or two | using dynamic programming | using recursion with memoization
find the minimum number of coins for an amount | using dynamic programming | The coins are 1, 3 and 4, and the amount is 6.
solve the 0/1 knapsack problem | using dynamic programming | Also print which items were chosen.
compute the edit distance between two words | using dynamic programming | with only two rows of memory | Use "kitten" and "sitting" as a test.
find the longest increasing subsequence of an array | with time complexity O(n log n) | using dynamic programming
count the paths from the top left to the bottom right corner of a grid | when some cells are blocked | using dynamic programming
find the cheapest path through a grid of costs | moving only right and down
decide whether a string can be split into dictionary words | using dynamic programming | The dictionary is ["rain", "bow", "rainbow", "coat"].
check whether a set of numbers can be divided into two parts with equal sums | For [1, 5, 11, 5] the answer is true.
find the best way to cut a rod when each length has a price | using dynamic programming
find the maximum sum of numbers in a list when no two may be neighbors | in O(n) time and O(1) space
solve the Tower of Hanoi puzzle | using recursion | Print every move for three disks.
generate all subsets of a set | using recursion | using bit masks
generate all valid combinations of n pairs of brackets | using backtracking
place eight queens on a chessboard so that none attacks another | using backtracking | Print one solution as a board.
solve a Sudoku puzzle | using backtracking
find a path through a maze | using depth-first search | using breadth-first search | The maze is a list of strings with # for walls.
find the shortest path in a weighted graph with Dijkstra's algorithm | using a priority queue
find the shortest path on a grid with A* search | with the Manhattan distance as heuristic
traverse a graph with breadth-first search | The graph is given as an adjacency list.
detect a cycle in a directed graph | using depth-first search
sort tasks by their dependencies with a topological sort | Report an error when there is a cycle.
count the islands in a grid of land and water | using recursion | without recursion
fill a region of an image with a new color by flood fill | without recursion
find the minimum spanning tree of a graph | with Kruskal's algorithm | with Prim's algorithm
check whether a graph is bipartite | using breadth-first search
find the shortest chain of words between two words of equal length | where each step changes one letter
find all combinations of numbers that add up to a target | using backtracking | Each number may be used more than once.
evaluate the Ackermann function | using recursion | Explain why it grows so fast.
move a knight over every square of a chessboard exactly once | with Warnsdorff's rule
"""

TREES = """
reverse a singly linked list | in place | using recursion | without recursion
detect a loop in a linked list | using two pointers | with O(1) extra space
find the middle node of a linked list | in one pass
merge two sorted linked lists | without creating new nodes
remove the nth node from the end of a linked list | in one pass
add two numbers whose digits are stored in linked lists | The digits are in reverse order.
compute the height of a binary tree | using recursion | without recursion
print a binary tree level by level | using a queue | in zigzag order
traverse a binary tree in preorder, inorder and postorder | using recursion | without recursion
check whether a binary tree is a valid search tree | with time complexity O(n)
mirror a binary tree | using recursion
insert and delete values in a binary search tree | Handle the case of a node with two children.
build a balanced binary search tree from a sorted array | using recursion
find the diameter of a binary tree | in O(n) time
save a binary tree as a string and load it again
print all paths from the root of a tree to its leaves
"""

PARSING = """
evaluate an arithmetic expression given as a string | with parentheses and operator precedence | without using eval | For "3 + 4 * (2 - 1)" the result is 7.
convert an infix expression to postfix notation | using the shunting-yard algorithm
evaluate an expression in reverse Polish notation | using a stack | "5 1 2 + 4 * + 3 -" should give 14.
parse a CSV line with quoted fields | without using a CSV library | Fields can contain commas and doubled quotes.
parse a JSON string into native objects | without using a JSON library
parse a query string such as "page=2&sort=name" into a dictionary | Repeated keys should become lists.
split a URL into protocol, host, port, path and query | without using a URL library
parse an INI file into nested dictionaries | Ignore comments and blank lines.
parse a web server log line into IP address, date, request and status code
convert simple Markdown with headings, bold text and lists to HTML | without using a library
split the source code of a small language into tokens | with numbers, names, strings and operators
parse command line arguments with flags and values | without using a library
parse a duration such as "1h 25m 10s" into seconds
read a date in several formats and print it as YYYY-MM-DD | The formats are 3/14/2023, 14.03.2023 and March 14, 2023.
escape the special characters of HTML in a string | without using a library
interpret programs in the Brainfuck language
"""

FILES = """
find all duplicate files in a folder | by comparing checksums | including its subfolders
rename all pictures in a folder by the date they were taken
rename all .jpeg files in a folder to .jpg | Print what would be renamed before doing it.
list the ten largest files below a directory | with their sizes in megabytes
count the lines of code in a project by file extension | Skip hidden folders.
replace a word in all text files of a folder | and keep a backup of each file
merge several CSV files with the same header into one file
convert a CSV file to JSON | Numbers should not be quoted.
print the last n lines of a large file | without reading the whole file into memory
watch a folder and print a message when a new file appears
back up a folder into a zip file whose name contains the date | and delete backups older than 30 days
delete empty folders recursively | with an option to only show them
read a log file and count the errors per hour | The lines start with a timestamp such as 2024-03-01 14:22:07.
compare two text files and show the lines that differ
split a large text file into parts of 1000 lines
download all images from a web page into a folder
check a list of websites and report which ones do not respond | with a timeout of five seconds
show the disk usage and send a warning when a disk is more than 90 percent full
sort the files in a downloads folder into subfolders by type
convert all file names in a folder to lower case and replace spaces by underscores
find the files that changed during the last 24 hours
print the directory tree of a folder | Limit the depth with an option.
"""

THINGS = """
a stack with push, pop and peek | using a linked list | using an array that grows
a queue | using two stacks | with a circular buffer
a stack that returns its minimum in constant time
a hash table | with separate chaining | with open addressing | without using the built-in dictionary or map
an LRU cache | with O(1) get and put | Show a small example with capacity 2.
a min heap | using an array | Include push, pop and heapify.
a priority queue | without using a library
a trie with insert, search and prefix search | Use it for autocompletion of a small word list.
a doubly linked list | with insertion at both ends
a union-find structure | with path compression and union by rank
a Bloom filter | Explain how to choose its size.
a binary search tree class | with insert, search and delete
a graph class with breadth-first and depth-first search
a sparse matrix class | Support addition and multiplication.
a BankAccount class with deposit and withdraw methods | Do not allow a negative balance.
a Rectangle class and a Circle class that share a Shape base class | Each shape should compute its area and perimeter.
a Fraction class with the four basic operations | Always reduce the result.
a ComplexNumber class with operator overloading
a Matrix class that supports addition, multiplication and printing
a Polynomial class that can add, multiply and evaluate
a class hierarchy for the employees of a company with different kinds of pay
a library system with books, members and loans | Members may borrow at most three books.
a parking lot system with spaces for cars, motorcycles and buses
a vending machine as a state machine | It accepts coins and gives change.
an elevator simulation for a building with ten floors
a shopping cart class with discounts and tax | Use prices in cents.
an inventory manager that saves its data to a file
a contact book for the command line | with search by name | Store the contacts in a JSON file.
a to-do list for the command line | with priorities and due dates
a calendar printer for a given month and year | without using a calendar library
a simple event emitter with on, off and emit | Support handlers that run only once.
an example of the observer pattern
an example of the factory pattern
a thread-safe singleton
an undo and redo manager for a text editor
a text adventure game with three rooms
a number guessing game | that tells the player whether the guess was too high or too low | Count the attempts.
a tic-tac-toe game for the terminal | with an unbeatable computer player | for two players
a hangman game for the terminal | Allow six wrong guesses.
a rock, paper, scissors game against the computer | The best of five rounds wins.
a snake game | in fewer than 150 lines
a minesweeper game for the terminal | with an 8 by 8 board and 10 mines
a connect four game for two players | Detect when someone wins.
a simulation of Conway's Game of Life | Start with a glider on a 20 by 20 board.
a blackjack game against a dealer | Count an ace as 1 or 11.
a quiz program that reads its questions from a file | and shows the score at the end
a Battleship game against the computer
a memory card game with eight pairs
a word-guessing game with five letters and six attempts
a simple Tetris clone
"""

SERVERS = """
a REST API for a to-do list with create, read, update and delete | Keep the data in memory. | Include the right status codes.
a REST API for a small bookshop | with pagination and search
a URL shortener service | Redirect unknown codes to a 404 page.
a login system with hashed passwords and sessions
an endpoint that accepts file uploads and limits their size to 5 MB
a client that fetches the current weather from an API and prints it | Handle network errors. | Cache the answer for ten minutes.
a client that gets all pages of a paginated API and combines the results
a function that retries a failing HTTP request | with exponential backoff | at most five times
a rate limiter that allows 100 requests per minute per user | using a sliding window | using a token bucket
a simple chat server with WebSockets
a TCP echo server | that handles many clients at once
a webhook receiver that verifies a signature | The signature is an HMAC of the body.
a currency converter that uses a public exchange rate API
a middleware that logs the method, path and duration of every request
a web scraper that collects the titles and links of a news page | Save them to a CSV file.
a small command line tool that shows the latest commits of a GitHub repository
"""

CONCURRENT = """
a producer and consumer example with a bounded queue
a thread pool that runs submitted tasks | without using a library
a program that downloads ten URLs at the same time | and prints the size of each
a parallel merge sort | Compare the time with the sequential version.
a solution to the dining philosophers problem | without deadlock
a counter that is safe to increment from several threads | with a lock | with atomic operations
a program in which two threads take turns printing odd and even numbers
a read-write lock | Writers should not starve.
a worker that processes jobs from a queue and shuts down cleanly
a parallel word counter for a set of large files
a cache that can be used by many threads | with entries that expire after 60 seconds
a scheduler that runs functions at fixed intervals
a small example of a deadlock and how to fix it
"""

PAGES = """
a responsive navigation bar with a hamburger menu on small screens
a login form with email and password fields | with client-side validation
a personal portfolio page with sections for projects, skills and contact
a landing page for a coffee shop | with a header image, a menu and opening hours
a pricing table with three plans | The middle plan should stand out.
a photo gallery in a grid of three columns | Clicking a picture should open it in a larger view.
an accordion with frequently asked questions | Only one answer should be open at a time.
a recipe page with ingredients and numbered steps | that looks good when printed
a contact form with name, email, subject and message
a product card with a picture, price, rating and a button | with a hover effect
a weekly timetable for a school class
an online resume with two columns | Use no images.
a loading spinner made with CSS only
a footer with three columns of links and social media icons
a survey form with radio buttons, checkboxes and a text area
"""

APPS = """
a registration form that checks whether both passwords match
an image carousel with previous and next buttons | that changes every five seconds
a to-do list app | Items should still be there after reloading the page.
a digital clock that updates every second
a countdown timer to New Year
a stopwatch with start, stop and reset buttons | and lap times
a calculator with buttons for the digits and the basic operations
a dark mode switch that remembers the choice
a modal dialog that closes with the Escape key
a table that can be sorted by clicking on the column headers
a search box that filters a list while typing
a color picker that shows the hex code
a bar chart of monthly sales drawn on a canvas
a tip calculator for a restaurant bill
a unit converter for kilometers and miles
a sticky header that shrinks when scrolling
a progress bar that fills as the user scrolls down
a simple drawing board on a canvas | with a choice of colors and line widths
a bouncing ball animation on a canvas
a multiple choice quiz with five questions about planets | Show the score at the end.
"""

SCRIPTS = """
debounce a function | Show how to use it on an input field.
throttle a scroll handler
copy a text to the clipboard when a button is clicked
deep clone an object | without using JSON | including dates and arrays
fetch data from an API and show it in a table | Show a message while loading.
validate a form before it is sent | Mark the wrong fields in red.
save the contents of a form in local storage
drag and drop items to reorder a list | without a library
load more items when the user scrolls to the bottom
compare two objects for deep equality | using recursion
run an array of promises with at most three at a time
group an array of objects by a property
show a preview of an image before it is uploaded
memoize a function with any number of arguments
sort an array of objects by last name and then by age
read a file chosen by the user and count its words
"""

QUERIES = """
find the second highest salary in the employees table | without using LIMIT | using a subquery
find the three highest salaries in each department | using a window function
find all customers who have never placed an order | using a left join | using NOT EXISTS
count the orders per month of the last year | Months without orders should show zero.
find duplicate email addresses in a users table
delete duplicate rows and keep the one with the lowest id
list employees who earn more than their manager | The table has the columns id, name, salary and manager_id.
compute the running total of sales per day | using a window function
find the total revenue per product category | Only include categories above 10000 dollars.
find the best-selling product of each month
list the customers who bought both product A and product B
find the average number of days between two orders of the same customer
show the students who are enrolled in every course
find products that were not sold during the last 90 days
calculate the percentage of the total sales for each region
create the tables for a library with books, authors, members and loans | with primary and foreign keys
create the tables for a blog with users, posts, comments and tags
update the prices of all products in one category by 5 percent
turn rows with month and amount into one column per month
find users who logged in on three days in a row | using a window function
list all employees below a given manager | using a recursive query
find gaps in a sequence of invoice numbers
show each department with the number of employees, including empty departments
rank players by score with ties getting the same rank
find the first order of every customer | The tables are customers(id, name) and orders(id, customer_id, ordered_at, total).
join three tables for students, courses and grades and show the average grade per course
find the median salary per department
transfer money between two accounts in one transaction | Roll back when the balance is too low.
show the rooms of a hotel that are free between two dates
find pairs of actors who appeared together in more than three movies
"""

REGEXES = """
match valid email addresses
match dates in the format YYYY-MM-DD | Months must be between 01 and 12.
match phone numbers such as (555) 123-4567 or 555-123-4567
match IPv4 addresses | Each part must be between 0 and 255.
find all hashtags in a text
extract all links from an HTML page
match hexadecimal color codes such as #1a2b3c and #fff
validate passwords with at least eight characters, a digit and a capital letter
match times in 24-hour format
remove all HTML tags from a string
find words that occur twice in a row
match prices such as $5, $12.99 and $1,250.00
split a camelCase name into words
extract the text between double quotes | Escaped quotes should be allowed.
match license plates with two letters, a dash and three to five digits
replace several spaces or tabs by one space
match floating-point numbers with an optional exponent
extract the file extension from a path
find lines that start with a number and end with a colon
match UK postcodes
"""

TESTED = """
a function that checks whether a password is strong
a function that splits a bill between friends
a stack class with push, pop and peek
a function that parses dates in the form DD/MM/YYYY
a shopping cart with a discount code
a function that calculates shipping costs by weight and country
a function that removes duplicates from a list
a client for a REST API | Mock the network requests.
a BankAccount class with deposit, withdraw and transfer
a function that converts between miles and kilometers
a function that reads a configuration file | Use a temporary file.
a binary search function | Include the edge cases.
a login function that locks the account after three failures
a function that returns the overlap of two date ranges
a simple calculator with division by zero handling
a function that formats phone numbers
"""


DO_PHRASES = [
    "Write {a_lang} {noun} to {do}{tail}{close}.",
    "Write {a_lang} {noun} to {do}{tail}{close}.",
    "Write a {noun} in {lang} to {do}{tail}{close}.",
    "Write a {noun} to {do} in {lang}{tail}.",
    "Can you write {a_lang} {noun} to {do}{tail}?",
    "Could you please write a {noun} in {lang} to {do}{tail}?",
    "How do I {do} in {lang}{tail}?",
    "How can I {do} in {lang}{tail}? Please show me the code.",
    "What is the best way to {do} in {lang}{tail}?",
    "I need {a_lang} {noun} to {do}{tail}.",
    "I want to {do} in {lang}{tail}. Can you show me the code?",
    "Using {lang}, write a {noun} to {do}{tail}{close}.",
    "Give me {a_lang} {noun} to {do}{tail}.",
    "Show me how to {do} in {lang}{tail}.",
    "Create {a_lang} {noun} to {do}{tail}{close}.",
    "Please write code in {lang} to {do}{tail}{close}.",
    "I'm learning {lang}. How would I {do}{tail}?",
    "Help me write {a_lang} {noun} to {do}{tail}.",
    "In {lang}, how would you {do}{tail}?",
    "My homework is to {do} in {lang}{tail}. Can you help me with the code?",
    "{lang} code to {do}{tail}",
    "{lang} {noun} to {do}{tail}",
    "write {a_lang} {noun} to {do}{tail}",
    "how to {do} in {lang}{tail}",
]

MAKE_PHRASES = [
    "Write {thing} in {lang}{tail}{close}.",
    "Write {thing} in {lang}{tail}{close}.",
    "Implement {thing} in {lang}{tail}{close}.",
    "Implement {thing} in {lang}{tail}{close}.",
    "Create {thing} in {lang}{tail}{close}.",
    "Can you write {thing} in {lang}{tail}?",
    "Could you code {thing} in {lang}{tail} for me?",
    "Please build {thing} in {lang}{tail}{close}.",
    "How would you write {thing} in {lang}{tail}?",
    "How do I make {thing} in {lang}{tail}?",
    "I need {thing} in {lang}{tail}.",
    "I'm learning {lang} and want to write {thing}{tail}. Can you show me?",
    "Using {lang}, write {thing}{tail}{close}.",
    "Give me the {lang} code for {thing}{tail}.",
    "Show me {lang} code for {thing}{tail}.",
    "Help me write {thing} in {lang}{tail}.",
    "Design and implement {thing} in {lang}{tail}.",
    "{lang} code for {thing}{tail}",
    "write {thing} in {lang}{tail}",
    "make me {thing} in {lang}{tail}",
]

QUERY_PHRASES = [
    "Write an SQL query to {do}{tail}{close}.",
    "Write a SQL statement to {do}{tail}{close}.",
    "How do I {do} in SQL{tail}?",
    "How can I {do}{tail} with SQL?",
    "I need an SQL query to {do}{tail}.",
    "Can you write the SQL to {do}{tail}?",
    "Using {lang}, {do}{tail}{close}.",
    "Show me how to {do} in {lang}{tail}.",
    "In {lang}, how would I {do}{tail}?",
    "Give me the SQL to {do}{tail}.",
    "Please write SQL for {lang} to {do}{tail}{close}.",
    "What SQL would I use to {do}{tail}?",
    "sql query to {do}{tail}",
    "SQL: {do}{tail}",
]

REGEX_PHRASES = [
    "Write a regular expression to {do}{close}.",
    "Write a regex to {do} and show how to use it in {lang}.",
    "What regular expression can I use to {do} in {lang}?",
    "How do I {do} with a regular expression in {lang}?",
    "I need a regex to {do}. It is for {a_lang} program.",
    "Can you give me a regex to {do}?",
    "Give me {a_lang} function that uses a regular expression to {do}.",
    "Using regular expressions in {lang}, {do}{close}.",
    "Please write a regex to {do}, and list some strings to test it with.",
    "Show me a regular expression to {do} in {lang}.",
    "Help me {do} with a regex in {lang}.",
    "Explain step by step how to {do} with a regex in {lang}.",
    "regex to {do} in {lang}",
    "regex to {do}",
]

TEST_PHRASES = [
    "Write unit tests in {lang} for {thing}{close}.",
    "Write {lang} unit tests for {thing}.",
    "Write {thing} in {lang} together with unit tests.",
    "Can you write unit tests for {thing} in {lang}?",
    "How would you test {thing} in {lang}?",
    "I wrote {thing} in {lang}. What tests should I write for it? Show the code.",
    "Show me how to test {thing} with {tool}.",
    "Using {tool}, write tests for {thing}{close}.",
    "Please write {tool} tests for {thing}.",
    "Develop {thing} in {lang} test first, showing the tests before the code.",
    "I need unit tests for {thing}. The code is in {lang}.",
    "Give me an example of good {tool} tests for {thing}.",
    "{tool} tests for {thing}",
]

PAGE_PHRASES = [phrase for phrase in MAKE_PHRASES
                if not phrase.startswith(("I'm learning", "Design"))] + [
    "Create a web page with {thing}{tail} using {lang}.",
    "Design {thing}{tail} with {lang}.",
    "Write the {lang} for {thing}{tail}{close}.",
    "I'm building a website. Can you make {thing}{tail} with {lang}?",
    "Make {thing}{tail} using only {lang}.",
]

CLOSINGS = [
    " and explain how it works", " and explain each step",
    " and show an example of how to use it", ", and add comments",
    " and give some example output",
]
WISHES = [
    "Explain how it works.", "Please add comments to the code.",
    "Please keep the code short.", "Include an example of how to use it.",
    "I am a beginner, so please explain each step.", "Only give me the code.",
    "Make it easy to read.", "Use clear variable names.",
    "Explain your choices briefly.", "Do not use any external libraries.",
    "Put everything in one file.", "Then suggest how it could be improved.",
]
FUNCTION_WISHES = [
    "What is its time complexity?", "Include a few test cases.",
    "Handle invalid input.", "Pay attention to edge cases.",
    "Make it as fast as possible.", "Give two different solutions.",
    "Also explain the time and space complexity.",
    "It should work for empty input.", "Add a main program that tests it.",
]
QUERY_WISHES = [
    "Explain the query.", "I am using an old version of MySQL.",
    "Which indexes would help?", "Show some sample data and the result.",
    "Explain each part of it.", "It should be fast on a large table.",
]
REGEX_WISHES = [
    "Explain each part of the pattern.", "Give some examples that match.",
    "Also show strings that should not match.", "Keep it simple.",
]
PAGE_WISHES = [
    "Do not use any frameworks.", "It should look modern.",
    "Use soft colors.", "It should work on phones too.",
    "Put everything in one file.", "Use flexbox.", "Add short comments.",
    "Use semantic tags.", "Make it accessible with the keyboard.",
]

TOOLS = {"Python": "pytest", "JavaScript": "Jest", "Java": "JUnit",
         "C#": "xUnit", "C++": "GoogleTest", "TypeScript": "Vitest"}
TESTERS = list(TOOLS) + ["Python"] * 2
DATABASES = ["SQL"] * 3 + ["PostgreSQL", "MySQL", "SQLite"]
REGEX_LANGUAGES = ["Python", "JavaScript"] * 2 + ["Java", "C#", "Go",
                                                  "TypeScript", "Bash"]

# Tasks, phrasings, languages and general wishes of each group.
GROUPS = [
    (NUMBERS, DO_PHRASES, GENERAL, WISHES + FUNCTION_WISHES),
    (STRINGS, DO_PHRASES, GENERAL, WISHES + FUNCTION_WISHES),
    (ARRAYS, DO_PHRASES, GENERAL, WISHES + FUNCTION_WISHES),
    (SEARCH, DO_PHRASES, GENERAL, WISHES + FUNCTION_WISHES),
    (TREES, DO_PHRASES, GENERAL, WISHES + FUNCTION_WISHES),
    (PARSING, DO_PHRASES, GENERAL, WISHES + FUNCTION_WISHES),
    (FILES, DO_PHRASES, SYSTEM, WISHES),
    (THINGS, MAKE_PHRASES, OBJECTS, WISHES),
    (SERVERS, MAKE_PHRASES, SERVER, WISHES),
    (CONCURRENT, MAKE_PHRASES, THREADS, WISHES),
    (PAGES, PAGE_PHRASES, WEB, PAGE_WISHES),
    (APPS, PAGE_PHRASES, WEB_APP, PAGE_WISHES),
    (SCRIPTS, DO_PHRASES, BROWSER, WISHES),
    (QUERIES, QUERY_PHRASES, DATABASES, QUERY_WISHES),
    (REGEXES, REGEX_PHRASES, REGEX_LANGUAGES, REGEX_WISHES),
    (TESTED, TEST_PHRASES, TESTERS, WISHES),
]


def tasks():
    """Return (task, extras, phrasings, languages, wishes) for every task."""
    return [(line.split(" | ")[0], line.split(" | ")[1:], *rest)
            for block, *rest in GROUPS
            for line in block.strip().splitlines()]


def noun(language, files, rng):
    """Return what a piece of code is called in the language."""
    if language == "Bash":
        return "script"
    if files:
        return rng.choice(["script", "program"])
    if language in ("Java", "C#"):
        return rng.choice(["method", "method", "program", "function"])
    return rng.choice(["function", "function", "function", "program"])


def compose(task, extras, phrases, languages, wishes, rng):
    """Return one request for a task."""
    language = rng.choice(languages)
    phrase = rng.choice(phrases)
    extra = rng.choice(extras) if extras and rng.random() < 0.6 else ""
    is_sentence = bool(extra) and not extra[0].islower()
    if not is_sentence and "{tail}" not in phrase:
        extra = ""
    closing = rng.choice(CLOSINGS) if rng.random() < 0.25 else ""
    article = "an" if language.startswith("HTML") else "a"
    text = phrase.format(
        do=task, thing=task, lang=language, a_lang=f"{article} {language}",
        noun=noun(language, languages is SYSTEM, rng),
        tail=" " + extra if extra and not is_sentence else "",
        close=closing, tool=TOOLS.get(language, ""))
    if text[-1] not in ".?":
        # Typed in a hurry, like a search.
        if is_sentence:
            return text + ". " + extra
        return text.lower() if rng.random() < 0.3 else text
    if is_sentence:
        text += " " + extra
    if not closing and rng.random() < 0.3:
        text += " " + rng.choice(wishes)
    return text


def prompts(seed: int, count: int) -> list[str]:
    """Return `count` distinct prompts, the same ones for the same seed."""
    rng = random.Random(seed)
    available = tasks()
    result = []
    seen = set()
    order = []
    for _ in range(50 * count):
        if len(result) == count:
            break
        if not order:
            order = rng.sample(available, len(available))
        text = compose(*order.pop(), rng)
        if text.lower() not in seen:
            seen.add(text.lower())
            result.append(text)
    if len(result) < count:
        raise ValueError(f"only {len(result)} distinct prompts available")
    return result
